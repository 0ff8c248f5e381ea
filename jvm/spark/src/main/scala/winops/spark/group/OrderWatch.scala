package winops.spark.group

import org.apache.spark.sql.catalyst.expressions._

import winops.spark.plan.KeepPlan
import winops.spark.row.RowShape

/** Tells which rows of a batch come behind rows of their group that were applied in earlier ones.
  */
final class OrderWatch(plan: KeepPlan) {
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
  private var greatest: Array[Byte] = GroupState.NoOrder
  private var newest: UnsafeRow = _

  def open(last: Array[Byte]): Unit = {
    greatest = last
    newest = null
    if (last.nonEmpty) shape.pointTo(before, last)
  }

  /** Rows come in order, so that only the first ones of a batch can be behind. */
  def isBehind(row: UnsafeRow): Boolean =
    active && {
      val values = project(row)
      val behind = greatest.nonEmpty && ordering.compare(values, before) < 0
      if (!behind) newest = values
      behind
    }

  def last: Array[Byte] = if (newest == null) greatest else newest.getBytes
}
