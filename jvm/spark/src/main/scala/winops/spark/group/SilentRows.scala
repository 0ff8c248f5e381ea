package winops.spark.group

import scala.collection.mutable

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}

/** The numbers of rows whose output is dropped when it becomes known, as ranges in ascending
  * order.
  */
private[group] final class SilentRows {

  /** The first number of each range, and the number behind its last one. */
  private val ranges = mutable.ArrayDeque.empty[(Long, Long)]

  def isEmpty: Boolean = ranges.isEmpty

  def clear(): Unit = ranges.clear()

  /** Replaces the numbers by those of `other`. */
  def startAs(other: SilentRows): Unit = {
    clear()
    ranges ++= other.ranges
  }

  /** Adds a number above all others. */
  def add(number: Long): Unit = ranges.lastOption match {
    case Some((first, `number`)) => ranges(ranges.size - 1) = (first, number + 1)
    case _ => ranges += ((number, number + 1))
  }

  /** Returns true if a number is in a range. Each call has a number that is not lower. */
  def contains(number: Long): Boolean = !isEmpty && {
    release(number)
    ranges.headOption.exists(_._1 <= number)
  }

  /** Removes the numbers below a number. */
  def release(until: Long): Unit = {
    while (ranges.nonEmpty && ranges.head._2 <= until) ranges.removeHead()
    ranges.headOption.filter(_._1 < until).foreach(range => ranges(0) = (until, range._2))
  }

  /** Writes the ranges, whose numbers are near `origin`. */
  def save(out: ByteWriter, origin: Long): Unit = {
    out.number(ranges.size.toLong)
    ranges.foldLeft(origin) { case (before, (first, end)) =>
      out.number(first - before)
      out.number(end - first)
      end
    }
  }

  /** Restores what [[save]] wrote.
    *
    * @throws winops.storage.bytes.CorruptStateException
    *   if the ranges are not in order
    */
  def restore(in: ByteReader, origin: Long): Unit = {
    clear()
    var before = origin
    (0L until in.count(in.remaining.toLong)).foreach { _ =>
      val first = before + in.number()
      val end = first + in.number()
      if (first < before || end <= first) {
        throw new CorruptStateException(s"rows from $first until $end have no output")
      }
      ranges += ((first, end))
      before = end
    }
  }
}
