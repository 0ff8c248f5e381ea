package org.apache.spark.sql.winops

import org.apache.spark.sql.catalyst.expressions.Attribute

import winops.spark._

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
      new CoupledTask(
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
