package org.apache.spark.sql.winops.source

import java.util.Arrays

import scala.annotation.tailrec

import org.apache.spark.ShuffleDependency
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.sql.execution.datasources.{FilePartition, FileScanRDD, PartitionedFile}
import org.apache.spark.sql.execution.datasources.v2.{DataSourceRDD, DataSourceRDDPartition}
import org.apache.spark.unsafe.types.UTF8String

/** Numbers the file splits that the tasks of a scan read, by path and by offset within a file.
  *
  * A stream reads files in the order of their modification times, and a micro-batch may end
  * between any two files. Splits of a stream are therefore sorted by time before path, so that
  * the order of all rows does not depend on the division of files into micro-batches.
  *
  * Tasks receive hashes of the paths, which take less memory than many long paths.
  *
  * @param isRequired
  *   true if a split that no scan contains is an error
  * @param byAge
  *   true if an older file precedes a newer one
  */
private[winops] final class FileSplits(isRequired: Boolean, byAge: Boolean) extends Serializable {
  private var seed = 0L
  private var hashes = Array.emptyLongArray
  private var numbers = Array.emptyIntArray

  /** Collects the splits of the scans that the RDDs depend on. Returns false if there are no
    * scans.
    */
  def read(rows: Seq[RDD[_]]): Boolean = {
    val files = rows.flatMap(FileSplits.scanned)
    val pieces = files.flatten.distinctBy(file => (file.urlEncodedPath, file.start))
    val paths = pieces
      .sortBy { file =>
        (if (byAge) file.modificationTime else 0L, file.toPath.toString, file.start)
      }
      .map(file => (UTF8String.fromString(file.urlEncodedPath), file.start))
      .toArray
    number(paths)
    files.nonEmpty
  }

  /** Creates the positions of a task's rows. */
  def positions(): FilePositions = new FilePositions(this)

  /** Returns true if no scan was found, so that all rows have the same position. */
  def isEmpty: Boolean = hashes.isEmpty

  /** Returns the number of the split of a file that begins at `start`. */
  def numberOf(path: UTF8String, start: Long): Int = {
    val at = Arrays.binarySearch(hashes, hash(path, start))
    if (at >= 0) numbers(at)
    else if (isRequired) throw new IllegalStateException("a file is read that its scan has not")
    else 0
  }

  @tailrec
  private def number(pieces: Array[(UTF8String, Long)]): Unit = {
    val hashed = pieces.map { case (path, start) => hash(path, start) }.zipWithIndex.sorted
    hashes = hashed.map(_._1)
    numbers = hashed.map(_._2)
    if (hashes.distinct.length < hashes.length) {
      seed += 1
      number(pieces)
    }
  }

  private def hash(path: UTF8String, start: Long): Long = XXH64.hashUnsafeBytes(
    path.getBaseObject,
    path.getBaseOffset,
    path.numBytes,
    XXH64.hashLong(start, seed))
}

private object FileSplits {

  /** The splits of each scan that the RDD depends on without a shuffle in between. */
  private def scanned(rows: RDD[_]): Seq[Seq[PartitionedFile]] = rows match {
    case scan: FileScanRDD => Seq(scan.filePartitions.flatMap(_.files))
    case scan: DataSourceRDD =>
      val partitions = scan.partitions.toSeq.collect { case partition: DataSourceRDDPartition =>
        InputPartitions.of(partition)
      }.flatten
      val files = partitions.collect { case partition: FilePartition => partition.files.toSeq }
      if (files.size == partitions.size) Seq(files.flatten) else Nil
    case _ =>
      rows.dependencies.flatMap {
        case _: ShuffleDependency[_, _, _] => Nil
        case narrow => scanned(narrow.rdd)
      }
  }
}
