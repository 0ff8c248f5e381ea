package winops.spark.harness

import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

import org.apache.spark.sql.catalyst.InternalRow

import winops.spark.plan.{Keep, OperatorPlan}

/** A row that entered or left a window.
  *
  * @param kind
  *   `insert` or `delete`
  * @param micros
  *   the time of the step; None on a table without a time column
  * @param window
  *   the name of the window, if there are several
  * @param row
  *   the number of the row in the order of arrival, from 0
  */
final case class WindowChange(
    kind: String,
    micros: Option[Long],
    step: Long,
    sequence: Long,
    window: Option[String],
    reason: String,
    row: Long)

object WindowChange {

  /** Reads an output row of a plan that gives changes with reasons. */
  def of(plan: OperatorPlan, row: InternalRow): WindowChange = {
    val described = plan.changeColumns.size
    WindowChange(
      row.getString(0),
      Option.when(!row.isNullAt(1))(row.getLong(1)),
      row.getLong(2),
      row.getLong(3),
      Option.when(plan.changeColumns.exists(_.name == Keep.Window))(row.getString(4)),
      row.getString(described - 1),
      row.getLong(described + plan.content.size - 1))
  }

  /** Writes `changes`, each as an array. */
  private[harness] def write(changes: Seq[WindowChange], reply: ObjectNode): Unit = {
    val list = reply.putArray("changes")
    changes.foreach(write(_, list))
  }

  /** Adds a change to a list. */
  private[harness] def write(change: WindowChange, list: ArrayNode): Unit = {
    val values = list.addArray()
    values.add(change.kind)
    change.micros.fold(values.addNull())(values.add(_))
    values.add(change.step)
    values.add(change.sequence)
    change.window.fold(values.addNull())(values.add(_))
    values.add(change.reason)
    val _ = values.add(change.row)
  }
}
