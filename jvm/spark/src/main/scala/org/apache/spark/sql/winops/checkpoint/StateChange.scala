package org.apache.spark.sql.winops.checkpoint

import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadataV2
import org.apache.spark.sql.internal.SQLConf

import winops.spark.checkpoint.{GroupCondition, StoredKeep}

/** The difference of a new checkpoint from the one that it continues. */
private[winops] sealed trait StateChange {

  /** The number of partitions of the new state. */
  def partitions(keep: OperatorStateMetadataV2): Int

  /** The offsets of a micro-batch in the new checkpoint. */
  def offsets(before: CheckpointLogs.Offsets): CheckpointLogs.Offsets

  /** The only operator that is changed; `None` for all. */
  def operator: Option[Long]

  /** The condition of the groups that the new state lacks; `None` if all groups are moved.
    *
    * @throws org.apache.spark.sql.AnalysisException
    *   `WINOPS_FORGET_CONDITION` or `WINOPS_FORGET_WINDOW` if a condition cannot select groups of
    *   this `keep`
    */
  def forgotten(keep: OperatorStateMetadataV2, stored: StoredKeep): Option[GroupCondition]
}

/** Another number of partitions. */
private[winops] final case class NewPartitions(number: Int) extends StateChange {
  override def partitions(keep: OperatorStateMetadataV2): Int = number

  override def offsets(before: CheckpointLogs.Offsets): CheckpointLogs.Offsets =
    CheckpointLogs.withSetting(before, SQLConf.SHUFFLE_PARTITIONS.key -> number.toString)

  override def operator: Option[Long] = None

  override def forgotten(
      keep: OperatorStateMetadataV2,
      stored: StoredKeep): Option[GroupCondition] = None
}

/** The same partitions without the groups for which a condition is true. */
private[winops] final case class ForgottenGroups(where: String, operator: Option[Long])
    extends StateChange {
  override def partitions(keep: OperatorStateMetadataV2): Int =
    keep.stateStoreInfo.head.numPartitions

  override def offsets(before: CheckpointLogs.Offsets): CheckpointLogs.Offsets = before

  override def forgotten(
      keep: OperatorStateMetadataV2,
      stored: StoredKeep): Option[GroupCondition] = {
    val number = keep.operatorInfo.operatorId
    Option.when(operator.forall(_ == number))(GroupCondition.of(where, stored, number))
  }
}
