package org.apache.spark.sql.winops.checkpoint

import java.nio.charset.StandardCharsets.UTF_8
import java.util.zip.ZipInputStream

import scala.util.Using

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}
import org.json4s.{JArray, JInt}
import org.json4s.jackson.JsonMethods.parse

/** The files of a state store in its checkpoint.
  *
  * @param folder
  *   the folder of the store of a partition
  */
private[checkpoint] final class StoreFiles(files: FileSystem, folder: Path) {
  import StoreFiles._

  /** The bytes of the files that a start reads for a version: those of the newest snapshot, and
    * the changes since.
    */
  def bytes(version: Long): Long = if (!files.exists(folder)) 0L
  else {
    val versions = files.listStatus(folder).toSeq.flatMap(versionOf).filter(_.number <= version)
    val newest = versions.filter(_.isSnapshot).map(_.number).maxOption.getOrElse(-1L)
    versions
      .filter(file => file.number > newest || file.number == newest && file.isSnapshot)
      // Attempts at a version have names of their own in version 2 of the checkpoint format.
      .groupMapReduce(_.number)(bytesOf)(_ max _)
      .values
      .sum
  }

  private def versionOf(file: FileStatus): Option[Version] = {
    val name = file.getPath.getName
    name.takeWhile(_.isDigit).toLongOption.map(Version(_, file))
  }

  private def bytesOf(version: Version): Long =
    version.file.getLen + (if (version.isArchive) bytesOfArchive(version.file.getPath) else 0L)

  /** The bytes of the immutable files that a snapshot of RocksDB refers to. Snapshots share them,
    * so they are not in the archive, which lists them with their sizes.
    */
  private def bytesOfArchive(path: Path): Long =
    Using.resource(new ZipInputStream(files.open(path))) { archive =>
      Iterator
        .continually(archive.getNextEntry)
        .takeWhile(_ != null)
        .find(_.getName == Metadata)
        .fold(0L) { _ =>
          // The first line is a version.
          val json = new String(archive.readAllBytes(), UTF_8).linesIterator.drop(1).mkString
          val listed = parse(json)
          (for {
            field <- Seq("sstFiles", "logFiles")
            file <- listed \ field match {
              case JArray(each) => each
              case _ => Nil
            }
            bytes <- file \ "sizeBytes" match {
              case JInt(size) => Some(size.toLong)
              case _ => None
            }
          } yield bytes).sum
        }
    }
}

private object StoreFiles {
  private val Metadata = "metadata"

  private final case class Version(number: Long, file: FileStatus) {
    def isArchive: Boolean = file.getPath.getName.endsWith(".zip")
    def isSnapshot: Boolean = isArchive || file.getPath.getName.endsWith(".snapshot")
  }
}
