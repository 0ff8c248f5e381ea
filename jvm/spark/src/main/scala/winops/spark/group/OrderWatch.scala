package winops.spark.group

import org.apache.spark.sql.catalyst.expressions._

import winops.spark.plan.OperatorPlan
import winops.spark.row.RowShape

/** Detects out-of-order rows: rows whose order columns are less than those of a row of their
  * group that was applied in an earlier micro-batch.
  */
final class OrderWatch(plan: OperatorPlan) {
  private val active = plan.order.nonEmpty
  private val columns = plan.order.map(_.child)
  private val project = UnsafeProjection.create(columns, plan.content)
  private val ordering = {
    val values = plan.order.zipWithIndex.map { case (o, i) =>
      o.copy(child = BoundReference(i, o.child.dataType, o.child.nullable))
    }
    RowOrdering.create(values, Nil)
  }
  private val shape = RowShape.of(columns)
  private val before = new UnsafeRow(columns.size)
  private var greatest: Array[Byte] = ArrivalState.NoOrder
  private var newest: UnsafeRow = _

  /** Begins with a group; `last` is the greatest value of the order columns so far. */
  def open(last: Array[Byte]): Unit = {
    greatest = last
    newest = null
    if (last.nonEmpty) shape.pointTo(before, last)
  }

  /** Returns true if the row is out of order. The rows of a micro-batch are sorted, so only its
    * first rows can be.
    */
  def isBehind(row: UnsafeRow): Boolean =
    active && {
      val values = project(row)
      val behind = greatest.nonEmpty && ordering.compare(values, before) < 0
      if (!behind) newest = values
      behind
    }

  /** The greatest value of the order columns, to be stored with the group. */
  def last: Array[Byte] = if (newest == null) greatest else newest.getBytes
}
