package org.apache.spark.sql.winops.source

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{FileIndex, FileStatusWithMetadata, PartitionDirectory}
import org.apache.spark.sql.types.StructType

/** Lists those files of a table that a [[HistoryRecord]] names.
  *
  * @param all
  *   lists the files that the table has now
  * @param recorded
  *   the files that are read, as [[RecordedFiles.line]] writes them
  */
private[winops] final class RecordedFiles(all: FileIndex, recorded: Set[String])
    extends FileIndex {
  override def rootPaths: Seq[Path] = all.rootPaths
  override def inputFiles: Array[String] = RecordedFiles
    .of(listFiles(Nil, Nil))
    .map { file =>
      file.getPath.toUri.toString
    }
    .toArray
  override def refresh(): Unit = all.refresh()
  override def sizeInBytes: Long = all.sizeInBytes
  override def partitionSchema: StructType = all.partitionSchema
  override def metadataOpsTimeNs: Option[Long] = all.metadataOpsTimeNs

  override def listFiles(
      partitionFilters: Seq[Expression],
      dataFilters: Seq[Expression]): Seq[PartitionDirectory] =
    all.listFiles(partitionFilters, dataFilters).flatMap { partition =>
      val files = partition.files.filter(file => recorded.contains(RecordedFiles.line(file)))
      Option.when(files.nonEmpty)(partition.copy(files = files))
    }
}

private[winops] object RecordedFiles {

  /** The line of a file in a record. A file that is written again has another one. */
  def line(file: FileStatusWithMetadata): String =
    s"${file.getLen}\t${file.getModificationTime}\t${file.getPath.toUri}"

  /** The path in a line. */
  def path(line: String): String = line.split("\t", 3).last

  def of(partitions: Seq[PartitionDirectory]): Seq[FileStatusWithMetadata] =
    partitions.flatMap(_.files)
}
