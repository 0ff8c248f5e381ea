package winops.spark.frames

import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

import winops.spark.plan.OffsetValue
import winops.storage.bytes.{ByteReader, ByteWriter}

/** The value of `lead` with IGNORE NULLS. */
private[frames] final class LeadOfValues(value: OffsetValue, rows: FrameRows)
    extends FrameValues {
  private val distance = value.offset
  private val valueOf = UnsafeProjection.create(Seq(value.left), rows.columns)
  private val defaultOf = UnsafeProjection.create(Seq(value.right), rows.columns)
  private val found = new UnsafeRow(rows.columns.size)

  /** The rows behind `current` and before `end` were counted and have `values` values. */
  private var current = -1L
  private var end = 0L
  private var values = 0

  override def isKnown(row: Long): Boolean = {
    count(row)
    values == distance || rows.isEnded
  }

  override def neededFrom(next: Long): Long = next

  override def of(row: Long): UnsafeRow = {
    count(row)
    rows.pointTo(found, if (values == distance) end - 1 else row)
    if (values == distance) valueOf(found) else defaultOf(found)
  }

  private def count(row: Long): Unit = {
    if (row != current) {
      if (row == current + 1 && row < end) {
        if (hasValue(row)) values -= 1
      } else {
        end = row + 1
        values = 0
      }
      current = row
    }
    while (values < distance && end < rows.end) {
      if (hasValue(end)) values += 1
      end += 1
    }
  }

  private def hasValue(ordinal: Long): Boolean = {
    rows.pointTo(found, ordinal)
    !valueOf(found).isNullAt(0)
  }

  override def clear(): Unit = {
    current = -1L
    end = 0L
    values = 0
  }

  override def startFrom(first: Long, next: Long): Unit = clear()
  override def save(out: ByteWriter): Unit = ()
  override def restore(in: ByteReader): Unit = clear()
}
