package winops.spark.frames

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.storage.bytes.{ByteReader, ByteWriter}

/** Evaluates some window functions of the rows of the open group, one row after the other.
  *
  * An instance is reused from group to group: [[restore]] or [[clear]] starts the next group.
  */
private[frames] trait FrameValues {

  /** Returns true if no further row can change the values of `row`. */
  def isKnown(row: Long): Boolean

  /** The values of `row`, the row behind that of the last call; valid until the next call. */
  def of(row: Long): UnsafeRow

  /** The ordinal of the first row that the values of `next` or of a later row depend on. */
  def neededFrom(next: Long): Long

  /** The time in microseconds after which the values of `row` are known, or `Long.MaxValue`. */
  def knownAfter(row: Long): Long = Long.MaxValue

  /** The time, in microseconds after a row, after which later rows need neither this row nor
    * those before it; `Long.MaxValue` if time does not decide.
    */
  def reach: Long = Long.MaxValue

  /** Takes over all rows before `end`, the end of the stored rows, which are out of the [[reach]]
    * of all later rows.
    */
  def leaveBehind(end: Long): Unit = ()

  def clear(): Unit

  /** Brings the stored pages up to date before they are written. */
  def settle(): Unit = ()
  def save(out: ByteWriter): Unit

  /** Starts with a group whose stored rows begin with `first`, of which the values of the rows
    * before `next` are not needed.
    */
  def startFrom(first: Long, next: Long): Unit
  def restore(in: ByteReader): Unit
}
