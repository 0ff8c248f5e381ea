package winops.window.batch

import winops.policy.{Span, Trigger}
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.changes.ChangeReason
import winops.window.time.{Anchor, Clock}

/** Decides when the contents of a window that emits net changes change. */
private[window] abstract class NetTrigger {

  /** Returns true if the pending rows enter with the row that arrives at `at`.
    *
    * @param pending
    *   number of pending rows, the arriving one included
    */
  def entersAt(at: Long, pending: Long): Boolean

  /** The [[ChangeReason]] of inserts. */
  def reason: Int = ChangeReason.Trigger

  /** The instant at which a row enters that arrived at `at` and did not enter then. */
  def after(at: Long): Long = Clock.Never

  /** The instant at which a row leaves that expired at `instant`. */
  def at(instant: Long): Long = instant

  /** Notes the arrival of a row. */
  def arrive(at: Long): Unit = ()

  def clear(): Unit = ()
  def save(out: ByteWriter): Unit = ()
  def restore(in: ByteReader): Unit = ()
}

private[window] object NetTrigger {

  /** The maker of a trigger; None if windows that emit net changes do not have the trigger. */
  def of(trigger: Trigger): Option[() => NetTrigger] = trigger match {
    case Trigger.EachRow => Some(() => EachRowNetTrigger)
    case Trigger.EachRows(count) => Some(() => new CountNetTrigger(count))
    case Trigger.Period(span, origin, false) =>
      Some(() => new PeriodNetTrigger(span, new Anchor(origin)))
    case _ => None
  }
}

/** Changes the contents with each row. */
private case object EachRowNetTrigger extends NetTrigger {
  override def entersAt(at: Long, pending: Long): Boolean = true
  override def reason: Int = ChangeReason.Arrived
}

/** Changes the contents with every `rows`-th row. */
private final class CountNetTrigger(rows: Long) extends NetTrigger {
  override def entersAt(at: Long, pending: Long): Boolean = pending >= rows
}

/** Changes the contents at the ends of consecutive spans. A row that arrives exactly at an end
  * enters at once.
  */
private final class PeriodNetTrigger(span: Span, anchor: Anchor) extends NetTrigger {
  override def entersAt(at: Long, pending: Long): Boolean = this.at(at) == at
  override def after(at: Long): Long = span.nextAfter(at, anchor.instant)
  override def at(instant: Long): Long = span.nextAfter(instant - 1, anchor.instant)
  override def arrive(at: Long): Unit = anchor.arrive(at)
  override def clear(): Unit = anchor.clear()
  override def save(out: ByteWriter): Unit = anchor.save(out)
  override def restore(in: ByteReader): Unit = anchor.restore(in)
}
