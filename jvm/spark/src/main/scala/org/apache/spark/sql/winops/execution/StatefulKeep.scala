package org.apache.spark.sql.winops.execution

import org.apache.spark.sql.catalyst.expressions.Attribute

import winops.spark.execution.{CrossGroupTask, KeepTask, StreamTask}
import winops.spark.group.BatchClock
import winops.spark.input.GroupedRows
import winops.spark.internal.KeepMetrics
import winops.spark.plan.KeepPlan
import winops.spark.state.{PartitionState, StateGroupStore, StateIdentity, WholeGroupStore}

/** What a [[StatefulKeepExec]] keeps through all its copies.
  *
  * @param flushes
  *   whether the batch has no new rows, in a query that applies those that wait when there are no
  *   more
  */
private[sql] final class StatefulKeep(val plan: KeepPlan, val flushes: Boolean)
    extends Serializable {
  val identity: String = StateIdentity.of(plan)
  lazy val keySchema: org.apache.spark.sql.types.StructType = StateGroupStore.keySchema(plan.keys)

  /** What runs in one task. */
  def task(
      columns: Seq[Attribute],
      rows: GroupedRows,
      clock: BatchClock,
      groups: StateGroupStore,
      partition: PartitionState,
      counters: KeepMetrics): StreamTask =
    if (plan.spec.couplesGroups) {
      new CrossGroupTask(
        plan,
        columns,
        rows,
        clock,
        groups,
        new WholeGroupStore(groups.partition),
        partition,
        counters)
    } else new KeepTask(plan, columns, rows, clock, groups, partition, counters)
}
