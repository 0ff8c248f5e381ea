package winops.spark.frames

import winops.storage.bytes.{ByteReader, ByteWriter}

/** A value over a frame whose first and last row both move.
  *
  * @param lower
  *   the boundary before the first row of the frame
  * @param upper
  *   the boundary behind the last row of the frame
  */
private[frames] abstract class MovingFrame(lower: Boundary, upper: Boundary) extends FrameValues {
  override def isKnown(row: Long): Boolean = upper.isKnown(row)
  override def knownAfter(row: Long): Long = upper.knownAfter(row)

  override def neededFrom(next: Long): Long =
    Math.min(lower.atLeast(next), upper.atLeast(next))

  override def reach: Long = Math.max(lower.reach, upper.reach)

  override def leaveBehind(end: Long): Unit = {
    lower.moveBehind(end)
    upper.moveBehind(end)
  }

  override def clear(): Unit = {
    lower.clear()
    upper.clear()
  }

  override def startFrom(first: Long, next: Long): Unit = {
    lower.startFrom(first)
    upper.startFrom(first)
    // The limit of an interval of days moves back once where the clock does, its boundary does not.
    var row = first
    while (row < next) {
      val _ = lower.moveTo(row)
      val _ = upper.moveTo(row)
      row += 1
    }
  }

  override def save(out: ByteWriter): Unit = {
    lower.save(out)
    upper.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    lower.restore(in)
    upper.restore(in)
  }
}
