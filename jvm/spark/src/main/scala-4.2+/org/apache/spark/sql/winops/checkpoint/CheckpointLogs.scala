package org.apache.spark.sql.winops.checkpoint

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.checkpointing.{CommitMetadataBase, OffsetMap, OffsetSeq, OffsetSeqBase, OffsetSeqMetadata}
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryCheckpointMetadata
import org.apache.spark.sql.internal.SQLConf

import CheckpointLogs._

/** The offset log and the commit log of a checkpoint.
  *
  * @param root
  *   the folder of the checkpoint
  */
private[winops] final class CheckpointLogs(session: SparkSession, root: String) {
  private val logs = new StreamingQueryCheckpointMetadata(session, root)

  def offsets(batch: Long): Option[Offsets] = logs.offsetLog.get(batch)
  def commit(batch: Long): Option[Commit] = logs.commitLog.get(batch)

  /** Writes the offsets of a micro-batch and returns true if there were none. */
  def add(batch: Long, offsets: Offsets): Boolean = logs.offsetLog.add(batch, offsets)

  /** Writes the commit of a micro-batch and returns true if there was none. */
  def add(batch: Long, commit: Commit): Boolean = logs.commitLog.add(batch, commit)
}

private[winops] object CheckpointLogs {
  type Offsets = OffsetSeqBase
  type Commit = CommitMetadataBase

  /** Returns the settings that are logged with the offsets. */
  def settings(offsets: Offsets): Map[String, String] =
    offsets.metadataOpt.fold(Map.empty[String, String])(_.conf)

  /** Overrides settings by those that are logged with the offsets. */
  def restore(offsets: Offsets, settings: SQLConf): Unit =
    offsets.metadataOpt.foreach(OffsetSeqMetadata.setSessionConf(_, settings))

  /** Returns the offsets with a setting replaced. They are a list by source number or, in version
    * 2 of the log, a map by source name.
    */
  def withSetting(offsets: Offsets, setting: (String, String)): Offsets = offsets match {
    case list: OffsetSeq =>
      list.copy(metadataOpt = list.metadataOpt.map(old => old.copy(conf = old.conf + setting)))
    case map: OffsetMap =>
      map.copy(metadata = map.metadata.copy(conf = map.metadata.conf + setting))
    case other => throw new IllegalStateException(s"unknown offsets: ${other.getClass.getName}")
  }

  /** Returns the commit with other unique ids of states, if it has ids. */
  def withStateIds(commit: Commit, ids: Map[Long, Array[Array[String]]]): Commit =
    commit.withStateUniqueIds(commit.stateUniqueIds.map(_ => ids))
}
