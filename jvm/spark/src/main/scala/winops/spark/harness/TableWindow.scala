package winops.spark.harness

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.catalyst.InternalRow

import winops.spark.execution.OperatorTask
import winops.spark.group.BatchTimes
import winops.spark.state.{NoGroupStore, TransientGroupStore, TransientPartitionState}
import winops.window.crossgroup.HeapRecords

/** Runs a window over a table, with the task of the batch operator. */
private[harness] object TableWindow {

  /** The output rows.
    *
    * @param until
    *   the instant, in milliseconds, to which time goes on after the last row
    * @param read
    *   reads an output row, which is valid until the next one
    */
  def run[A](
      window: WindowPlan,
      json: Seq[JsonNode],
      until: Option[Long],
      read: InternalRow => A): Seq[A] = {
    val rows = window.read(json)
    val end = if (window.hasEnd) (window.lastTime(rows) ++ until).maxOption else None
    val metrics = Metrics.create()
    val task = OperatorTask.of(
      window.plan,
      window.input,
      window.grouped(rows),
      BatchTimes.ofTable(end),
      if (window.plan.spec.isCrossGroup) new TransientGroupStore else new NoGroupStore,
      new TransientGroupStore,
      new HeapRecords,
      new TransientPartitionState(metrics.ofTask),
      metrics.ofTask)
    task.map(read).toVector
  }
}
