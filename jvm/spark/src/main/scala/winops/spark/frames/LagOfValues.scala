package winops.spark.frames

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

import winops.spark.plan.OffsetValue
import winops.spark.row.RowShape
import winops.storage.bytes.{ByteReader, ByteWriter}

/** The value of `lag` with IGNORE NULLS. Keeps as many values as the distance, because any number
  * of rows without a value may lie between them.
  */
private[frames] final class LagOfValues(value: OffsetValue, rows: FrameRows) extends FrameValues {
  private val distance = -value.offset
  private val valueOf = UnsafeProjection.create(Seq(value.left), rows.columns)
  private val defaultOf = UnsafeProjection.create(Seq(value.right), rows.columns)
  private val shape = RowShape.of(Seq(value.left))
  private val found = new UnsafeRow(rows.columns.size)

  /** The newest values before the current row, oldest first. */
  private val before = mutable.Queue.empty[UnsafeRow]

  override def isKnown(row: Long): Boolean = true
  override def neededFrom(next: Long): Long = next

  override def of(row: Long): UnsafeRow = {
    rows.pointTo(found, row)
    val result = if (before.size == distance) before.head else defaultOf(found)
    val own = valueOf(found)
    if (!own.isNullAt(0)) {
      before += own.copy()
      if (before.size > distance) before.dequeue()
    }
    result
  }

  override def clear(): Unit = before.clear()

  override def startFrom(first: Long, next: Long): Unit = {
    clear()
    rows.checkFirst(first)
    var row = first
    while (row < next) {
      val _ = of(row)
      row += 1
    }
  }

  override def save(out: ByteWriter): Unit = {
    out.number(before.size.toLong)
    before.foreach(value => out.block(value.getBytes))
  }

  override def restore(in: ByteReader): Unit = {
    before.clear()
    val size = in.count(distance.toLong).toInt
    for (_ <- 0 until size) {
      val value = new UnsafeRow(1)
      shape.pointTo(value, in.block())
      before += value
    }
  }
}
