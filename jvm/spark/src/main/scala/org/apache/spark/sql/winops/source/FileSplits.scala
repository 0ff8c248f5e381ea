package org.apache.spark.sql.winops.source

import java.util.Arrays

import scala.annotation.tailrec

import org.apache.spark.ShuffleDependency
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.sql.execution.datasources.{FilePartition, FileScanRDD, PartitionedFile}
import org.apache.spark.sql.execution.datasources.v2.{DataSourceRDD, DataSourceRDDPartition}
import org.apache.spark.unsafe.types.UTF8String

/** The pieces of files that the tasks of a scan read, numbered in the order of the files' paths,
  * and within a file from its beginning to its end.
  *
  * A stream reads files in the order of their modification times, and a micro-batch ends anywhere
  * between two of them. There the time precedes the path, so that the order of all rows does not
  * depend on how the files are divided into micro-batches.
  *
  * Tasks get hashes of the paths, which take less memory than many long paths do.
  *
  * @param isRequired
  *   whether a piece that no scan has is an error
  * @param byAge
  *   whether an older file precedes a newer one
  */
private[winops] final class FileSplits(isRequired: Boolean, byAge: Boolean) extends Serializable {
  private var seed = 0L
  private var hashes = Array.emptyLongArray
  private var numbers = Array.emptyIntArray

  /** Looks for the scans behind rows; returns false if there are none. */
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

  /** Numbers the rows of a task. */
  def positions(): FilePositions = new FilePositions(this)

  /** Returns true if no scan was found, so that all rows have the same position. */
  def isEmpty: Boolean = hashes.isEmpty

  /** The number of the piece of a file that begins at `start`. */
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

  /** The files of each scan behind rows, without those before a shuffle. */
  private def scanned(rows: RDD[_]): Seq[Seq[PartitionedFile]] = rows match {
    case scan: FileScanRDD => Seq(scan.filePartitions.flatMap(_.files))
    case scan: DataSourceRDD =>
      val partitions = scan.partitions.toSeq.collect { case partition: DataSourceRDDPartition =>
        partition.inputPartitions
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
