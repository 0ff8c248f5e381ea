package org.apache.spark.sql.winops.execution

import org.apache.spark.sql.catalyst.expressions.Attribute

import winops.spark.execution.{CrossGroupTask, KeepTask, StreamTask}
import winops.spark.group.BatchClock
import winops.spark.input.GroupedRows
import winops.spark.internal.KeepMetrics
import winops.spark.plan.KeepPlan
import winops.spark.state.{StateGroupStore, StateIdentity, StateTimerService, WholeGroupStore}

/** The part of a [[StatefulKeepExec]] that all of its copies share.
  *
  * @param plan
  *   the resolved plan
  * @param flushes
  *   true in a micro-batch without new rows, if the query applies waiting rows at the end of
  *   input
  */
private[sql] final class StatefulKeep(val plan: KeepPlan, val flushes: Boolean)
    extends Serializable {
  val identity: String = StateIdentity.of(plan)
  lazy val keySchema: org.apache.spark.sql.types.StructType = StateGroupStore.keySchema(plan.keys)

  /** Creates the iterator that processes the rows of one task. */
  def task(
      columns: Seq[Attribute],
      rows: GroupedRows,
      clock: BatchClock,
      groups: StateGroupStore,
      partition: StateTimerService,
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
