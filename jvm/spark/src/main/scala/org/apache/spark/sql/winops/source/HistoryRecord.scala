package org.apache.spark.sql.winops.source

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager

import winops.spark.internal.WinopsErrors

/** The record of what a micro-batch reads of a table, in the checkpoint of the query. If the
  * micro-batch is run again, it reads the same rows.
  *
  * The file is in a folder of its own at the top of the checkpoint, which Spark does not purge
  * and which is copied with the checkpoint.
  *
  * @param checkpoint
  *   the folder of the checkpoint
  * @param number
  *   the number of the table among those of the query
  * @param restart
  *   the restart that reads the table; None for the first micro-batch of the checkpoint
  */
final case class HistoryRecord(
    checkpoint: String,
    number: Int,
    restart: Option[HistoryRecord.Restart] = None) {
  import HistoryRecord._

  private val name = restart.fold(number.toString) { at =>
    s"restart-${at.batch}-${at.plan}-$number"
  }

  /** The folder of the record. */
  def folder: String = s"$checkpoint/$Folder"

  /** Returns the recorded lines of the sources of the table. Writes `lines` if there is no record
    * yet.
    */
  def ofSource(lines: => Seq[String]): Seq[String] = of(Source, lines)

  /** Returns the recorded lines of a kind. Writes `lines` if there is no record yet. */
  def of(kind: String, lines: => Seq[String]): Seq[String] = {
    val path = new Path(new Path(checkpoint, Folder), s"$name-$kind")
    val manager =
      CheckpointFileManager.create(
        path.getParent,
        SparkSession.active.sessionState.newHadoopConf())
    if (manager.exists(path)) {
      val bytes = Using.resource(manager.open(path))(_.readAllBytes())
      new String(bytes, UTF_8).linesIterator.toSeq match {
        case Version +: recorded => recorded
        case _ => throw changed(s"the record $path cannot be read")
      }
    } else {
      val written = lines
      manager.mkdirs(path.getParent)
      val out = manager.createAtomic(path, overwriteIfPossible = false)
      try {
        out.write((Version +: written).mkString("", "\n", "\n").getBytes(UTF_8))
        out.close()
      } catch {
        case error: Throwable =>
          out.cancel()
          throw error
      }
      written
    }
  }

  /** The error of a table that has not the rows that the micro-batch began to read. */
  def changed(reason: String): AnalysisException =
    WinopsErrors.analysis("WINOPS_HISTORY_CHANGED", "reason" -> reason, "expected" -> renewal)

  /** The instruction after which a micro-batch that is run again reads the table as it is. */
  def renewal: String =
    restart.fold(s"start the query with a new checkpoint instead of $checkpoint") { _ =>
      s"remove the files $name-* in $folder, and the micro-batch reads the table as it is"
    }
}

object HistoryRecord {

  /** The folder of the records in a checkpoint. */
  val Folder = "history"

  private val Source = "source"

  /** Refuses a query that has fewer tables than its first micro-batch has begun with. The window
    * would be empty instead.
    *
    * @param tables
    *   the number of tables of the query
    */
  def checkNoneMissing(checkpoint: String, tables: Int): Unit = {
    val folder = new Path(checkpoint, Folder)
    val manager =
      CheckpointFileManager.create(folder, SparkSession.active.sessionState.newHadoopConf())
    if (manager.exists(new Path(folder, s"$tables-$Source"))) {
      throw WinopsErrors.analysis("WINOPS_HISTORY_MISSING", "checkpoint" -> checkpoint)
    }
  }

  /** A restart with another query.
    *
    * @param batch
    *   its first micro-batch
    * @param plan
    *   the hash of its plan
    */
  final case class Restart(batch: Long, plan: String)

  private val Version = "v1"
}
