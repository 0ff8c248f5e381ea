package winops.spark.harness

import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils

import winops.spark.plan.Output

/** The window of a call of `keep`, with its output rows as replies have them: `changes`, see
  * [[WindowChange]], or `rows` of another output, each as the JSON of its columns.
  */
private[harness] final class KeepWindow private (resolved: LogicalPlan, call: WindowCall) {
  import KeepWindow._

  private val keep = WindowPlan.keepIn(resolved)

  val plan: WindowPlan = new WindowPlan(keep, call.schema)

  private val emitsChanges = keep.spec.output == Output.Changes

  private val read: InternalRow => Written =
    if (emitsChanges) { row =>
      val change = WindowChange.of(plan.plan, row)
      WindowChange.write(change, _)
    } else {
      val arranged = ComputedRows.of(resolved)
      val json = new JsonRows(DataTypeUtils.fromAttributes(resolved.output))
      row => {
        val text = json.text(arranged(row).get)
        list => { val _ = list.add(text) }
      }
    }

  /** Writes output rows.
    *
    * @param run
    *   runs the window, and calls a function for each output row
    */
  def write(reply: ObjectNode)(run: (InternalRow => Written) => Seq[Written]): Unit = {
    val rows = run(read)
    val list = reply.putArray(if (emitsChanges) "changes" else "rows")
    rows.foreach(_(list))
  }
}

private[harness] object KeepWindow {

  /** Adds an output row to a list. */
  type Written = ArrayNode => Unit

  /** The window of a call over a stream or a table. */
  def of(call: WindowCall, isStreaming: Boolean): KeepWindow =
    new KeepWindow(WindowPlan.resolved(call, isStreaming), call)
}
