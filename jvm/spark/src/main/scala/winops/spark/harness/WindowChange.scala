package winops.spark.harness

import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

import org.apache.spark.sql.catalyst.InternalRow

import winops.spark.plan.{Keep, OperatorPlan}

/** A row that entered or left a window, was updated in it, or had no effect on it.
  *
  * @param kind
  *   `insert`, `delete`, or another type of changes of rows with a primary key
  * @param micros
  *   the time of the step; None on a table without a time column
  * @param window
  *   the name of the window, if there are several
  * @param step
  *   the number of the step; None for a row without effect, as `sequence`
  * @param row
  *   the number of the row in the order of arrival, from 0: of the row whose values the row of
  *   the window has
  * @param inGroup
  *   the number of the row among those that have entered the group, if changes have it
  */
final case class WindowChange(
    kind: String,
    micros: Option[Long],
    step: Option[Long],
    sequence: Option[Long],
    window: Option[String],
    reason: String,
    row: Long,
    inGroup: Option[Long] = None)

object WindowChange {

  /** Reads an output row of a plan that gives changes with reasons. */
  def of(plan: OperatorPlan, row: InternalRow): WindowChange = {
    val described = plan.changeColumns.size
    def number(column: Int): Option[Long] =
      Option.when(!row.isNullAt(column))(row.getLong(column))
    def column(name: String): Option[Int] =
      Some(plan.changeColumns.indexWhere(_.name == name)).filter(_ >= 0)
    WindowChange(
      row.getString(0),
      number(1),
      number(2),
      number(3),
      column(Keep.Window).map(row.getString(_)),
      row.getString(described - 1),
      row.getLong(described + plan.content.size - 1),
      column(Keep.ChangeRow).flatMap(number))
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
    change.step.fold(values.addNull())(values.add(_))
    change.sequence.fold(values.addNull())(values.add(_))
    change.window.fold(values.addNull())(values.add(_))
    values.add(change.reason)
    values.add(change.row)
    change.inGroup.foreach(values.add(_))
  }
}
