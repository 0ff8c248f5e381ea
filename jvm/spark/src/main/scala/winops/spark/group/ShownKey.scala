package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

import winops.spark.plan.OperatorPlan
import winops.spark.row.RowShape
import winops.storage.bytes.{ByteReader, ByteWriter}

/** The key of the open group as the output shows it. Groups are compared by the normalized key,
  * in which a string of a collation is a binary. The output shows the key that the group's first
  * row has, which is stored with the group. The first row after a removal of the group is such a
  * row too.
  */
private[group] final class ShownKey(plan: OperatorPlan) {
  private val isStored = plan.shownKeys.nonEmpty
  private lazy val ofRow = UnsafeProjection.create(plan.shownKeys, plan.content)
  private lazy val shape = RowShape.of(plan.shownKeys)
  private var shown: UnsafeRow = _

  /** The key that the output shows for a group with this normalized key. */
  def of(key: UnsafeRow): UnsafeRow = if (isStored) shown else key

  /** Begins a group with its first row. */
  def begin(row: UnsafeRow): Unit = if (isStored) shown = ofRow(row).copy()

  def clear(): Unit = shown = null

  def save(out: ByteWriter): Unit = if (isStored) {
    out.block(if (shown == null) Array.emptyByteArray else shown.getBytes)
  }

  def restore(in: ByteReader): Unit = if (isStored) {
    val bytes = in.block()
    if (bytes.isEmpty) clear()
    else {
      shown = new UnsafeRow(plan.shownKeys.size)
      shape.pointTo(shown, bytes)
    }
  }
}
