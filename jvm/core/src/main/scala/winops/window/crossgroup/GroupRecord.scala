package winops.window.crossgroup

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.time.Clock

/** The entry of a group in a [[CrossGroupIndex]].
  *
  * @param created
  *   the number of groups that were created before
  */
private[crossgroup] final class GroupRecord(val created: Long) {
  import GroupOrder.Rank

  /** The instant of the last arrival, in milliseconds, and its number among all arrivals. */
  var lastArrival: Long = 0L
  var arrival: Long = 0L

  /** Number of rows that the group holds. */
  var rows: Long = 0L

  /** The earliest timer of the group; [[Clock.Never]] if there is none. */
  var due: Long = Clock.Never

  /** The group's place in the order of arrivals, if there is such an order. */
  var arrivalPlace = Option.empty[Rank]

  /** The group's place in the order of timers, if it has one. */
  var duePlace = Option.empty[Rank]

  def save(out: ByteWriter): Unit = {
    out.number(created)
    out.number(lastArrival)
    out.number(arrival)
    out.number(rows)
    out.number(due)
    savePlace(arrivalPlace, arrival, out)
    savePlace(duePlace, due, out)
  }

  private def restore(in: ByteReader): Unit = {
    lastArrival = in.number()
    arrival = in.count(Long.MaxValue)
    rows = in.count(Long.MaxValue)
    due = in.number()
    arrivalPlace = restorePlace(arrival, in)
    duePlace = restorePlace(due, in)
    in.finish()
  }

  private def savePlace(place: Option[Rank], number: Long, out: ByteWriter): Unit = place match {
    case None => out.byte(GroupRecord.NoPlace)
    case Some(Rank(`number`, `created`)) => out.byte(GroupRecord.Exact)
    case Some(Rank(bound, tie)) =>
      out.byte(GroupRecord.Other)
      out.number(bound)
      // A negative tie counts from the least number, which would be long.
      out.number(if (tie < 0) -1 - (tie - Long.MinValue) else tie)
  }

  private def restorePlace(number: Long, in: ByteReader): Option[Rank] = in.byte() match {
    case GroupRecord.NoPlace => None
    case GroupRecord.Exact => Some(Rank(number, created))
    case _ =>
      val bound = in.number()
      val tie = in.number()
      Some(Rank(bound, if (tie < 0) Long.MinValue + (-1 - tie) else tie))
  }
}

private[crossgroup] object GroupRecord {
  private val NoPlace = 0
  private val Exact = 1
  private val Other = 2

  def of(bytes: Array[Byte]): GroupRecord = {
    val in = new ByteReader(bytes)
    val record = new GroupRecord(in.count(Long.MaxValue))
    record.restore(in)
    record
  }
}
