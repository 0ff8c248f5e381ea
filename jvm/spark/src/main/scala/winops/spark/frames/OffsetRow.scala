package winops.spark.frames

import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

import winops.spark.plan.OffsetValue
import winops.storage.bytes.{ByteReader, ByteWriter}

/** The value of `lag` or `lead`: that of the row at a fixed distance. */
private[frames] final class OffsetRow(value: OffsetValue, rows: FrameRows) extends FrameValues {
  private val offset = value.offset.toLong
  private val valueOf = UnsafeProjection.create(Seq(value.left), rows.columns)
  private val defaultOf = UnsafeProjection.create(Seq(value.right), rows.columns)
  private val found = new UnsafeRow(rows.columns.size)

  override def isKnown(row: Long): Boolean = row + offset < rows.end || rows.isEnded
  override def neededFrom(next: Long): Long = Math.max(0L, Math.min(next, next + offset))

  override def of(row: Long): UnsafeRow = {
    val other = row + offset
    val isThere = 0 <= other && other < rows.end
    rows.pointTo(found, if (isThere) other else row)
    if (isThere) valueOf(found) else defaultOf(found)
  }

  override def clear(): Unit = ()
  override def startFrom(first: Long, next: Long): Unit = ()
  override def save(out: ByteWriter): Unit = ()
  override def restore(in: ByteReader): Unit = ()
}
