package winops.window.event

import winops.policy.{Distance, Span}
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.expression.RowNumber
import winops.window.time.{Anchor, Clock}

/** Decides when the contents of an event window are reported. */
private[window] abstract class ReportTrigger {

  /** Returns true if the row has the value that the trigger reads. */
  def admits(row: Long): Boolean = true

  /** Returns true if the contents are reported before the newest row enters and evicts others. */
  def beforeRow(row: Long): Boolean = false

  /** Returns true if the contents are reported after a row entered.
    *
    * @param isFirst
    *   true if the window was empty before the row
    */
  def afterRow(at: Long, isFirst: Boolean): Boolean = false

  /** The instant at which the contents, which are not empty, are reported though no row arrives;
    * [[Clock.Never]] if none.
    */
  def due: Long = Clock.Never

  /** Notes that a timer reported the contents at `at`. */
  def fired(at: Long): Unit = ()

  /** Passes over the timers up to `until`, and returns their number. */
  def skip(until: Long): Long = 0L

  def clear(): Unit = ()
  def save(out: ByteWriter): Unit = ()
  def restore(in: ByteReader): Unit = ()
}

/** Never reports the contents. */
private case object NoReportTrigger extends ReportTrigger

/** Reports after every `rows` rows. */
private final class CountReportTrigger(rows: Long) extends ReportTrigger {
  private var count = 0L

  override def afterRow(at: Long, isFirst: Boolean): Boolean = {
    count += 1
    val fires = count >= rows
    if (fires) count = 0L
    fires
  }

  override def clear(): Unit = count = 0L
  override def save(out: ByteWriter): Unit = out.number(count)
  override def restore(in: ByteReader): Unit = count = in.count(Long.MaxValue)
}

/** Reports at the ends of consecutive spans, counted from the anchor. */
private final class PeriodReportTrigger(span: Span, anchor: Anchor) extends ReportTrigger {

  /** The instant of the last report or, if later, of the row that entered the empty window. */
  private var passed = Long.MinValue

  override def afterRow(at: Long, isFirst: Boolean): Boolean = {
    anchor.arrive(at)
    if (isFirst) passed = at
    false
  }

  override def due: Long = span.nextAfter(passed, anchor.instant)
  override def fired(at: Long): Unit = passed = at

  override def skip(until: Long): Long =
    if (due > until) 0L
    else {
      val skipped = span.endsBetween(passed, until, anchor.instant)
      passed = span.lastUntil(until, anchor.instant)
      skipped
    }

  override def clear(): Unit = {
    anchor.clear()
    passed = Long.MinValue
  }

  override def save(out: ByteWriter): Unit = {
    anchor.save(out)
    out.number(passed)
  }

  override def restore(in: ByteReader): Unit = {
    anchor.restore(in)
    passed = in.number()
  }
}

/** Reports before a row whose value is more than the distance above the value of the row that
  * triggered last. The group's first row sets the first reference.
  */
private final class ValueReportTrigger(value: RowNumber, distance: Distance)
    extends ReportTrigger {
  private var hasReference = false
  private var whole = 0L
  private var real = 0.0

  override def admits(row: Long): Boolean = !value.isMissing(row)

  override def beforeRow(row: Long): Boolean = {
    val fires = hasReference && isExceeded(row)
    if (fires || !hasReference) {
      hasReference = true
      whole = value.whole(row)
      real = value.real(row)
    }
    fires
  }

  override def clear(): Unit = {
    hasReference = false
    whole = 0L
    real = 0.0
  }

  override def save(out: ByteWriter): Unit = {
    out.byte(if (hasReference) 1 else 0)
    out.number(whole)
    out.number(java.lang.Double.doubleToLongBits(real))
  }

  override def restore(in: ByteReader): Unit = {
    hasReference = in.byte() == 1
    whole = in.number()
    real = java.lang.Double.longBitsToDouble(in.number())
  }

  private def isExceeded(row: Long): Boolean = distance match {
    case Distance.Whole(limit) => Gap.exceeds(value.whole(row), whole, limit)
    // The product adds the distance to the reference here, whereas its eviction subtracts values.
    case Distance.Real(limit) => value.real(row) > real + limit
  }
}
