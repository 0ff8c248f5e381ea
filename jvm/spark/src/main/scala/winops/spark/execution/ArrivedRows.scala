package winops.spark.execution

import org.apache.spark.sql.catalyst.expressions.Attribute

import winops.spark.group.BatchTimes
import winops.spark.input.GroupedRows
import winops.spark.internal.KeepMetrics
import winops.spark.plan.OperatorPlan
import winops.spark.state.{StateGroupStore, StoredPartitionState, WholeGroupStore}

/** The input rows of a task of a stream, in the way in which they arrive. */
trait ArrivedRows {

  /** True if groups are processed one after the other, in the order of their hashes. */
  def areByGroup: Boolean

  /** Creates the task that processes the rows.
    *
    * @param input
    *   the columns of the rows
    * @param groups
    *   the stored groups
    * @param partition
    *   the timers and numbers that are stored with the groups
    */
  def task(
      plan: OperatorPlan,
      input: Seq[Attribute],
      times: BatchTimes,
      groups: StateGroupStore,
      partition: StoredPartitionState,
      metrics: KeepMetrics): OperatorTask
}

object ArrivedRows {

  /** Rows that are all there before the first one is processed. */
  def byGroup(rows: => GroupedRows): ArrivedRows = new ByGroup(() => rows)

  private final class ByGroup(rows: () => GroupedRows) extends ArrivedRows {
    override def areByGroup: Boolean = true

    override def task(
        plan: OperatorPlan,
        input: Seq[Attribute],
        times: BatchTimes,
        groups: StateGroupStore,
        partition: StoredPartitionState,
        metrics: KeepMetrics): OperatorTask = OperatorTask.of(
      plan,
      input,
      rows(),
      times,
      groups,
      new WholeGroupStore(groups.partition, groups.pageMemory),
      groups.records,
      partition,
      metrics)
  }
}
