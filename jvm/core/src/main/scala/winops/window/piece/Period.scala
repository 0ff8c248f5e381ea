package winops.window.piece

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.terms.{Origin, Purpose, RowExpression, Span, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.WindowContext.Make
import winops.window.expression.WindowView
import winops.window.rules.{ArrivalEviction, BatchTrigger, EvictionRule, NetTrigger, NoArrivalEviction, ReportTrigger}
import winops.window.time.{Anchor, Clock}

/** The ends of consecutive spans that are counted from `origin`.
  *
  * @param forced
  *   true if a trigger without changes is emitted too
  */
final case class Period(span: Span, origin: Origin, forced: Boolean = false) extends Trigger {
  override def usesTime: Boolean = true
  override def firesAtPunctuation: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def reason: Int = ChangeReason.Trigger

  override def words: String = {
    val counting = if (origin == Origin.epoch) "" else s", ${Wording.from(origin)}"
    s"every ${Wording.period(span)}$counting${Wording.alsoEmpty(forced)}"
  }

  override def resizable: Option[Resizable] = Option.unless(forced) {
    Resizable(origin match {
      case Origin.At(millis) => s"every interval from $millis"
      case Origin.FirstRow => "every interval from the first row"
    })
  }

  override private[window] def batch: Option[Make[BatchTrigger]] =
    Some(_ => new PeriodBatchTrigger(span, new Anchor(origin), forced))

  override private[window] def net: Option[() => NetTrigger] =
    Option.unless(forced)(() => new PeriodNetTrigger(span, new Anchor(origin)))

  override private[window] def report: Option[Make[ReportTrigger]] =
    Option.unless(forced)(_ => new PeriodReportTrigger(span, new Anchor(origin)))

  override private[window] def emptyingRule: Option[Make[EvictionRule]] =
    Option.unless(forced)(context => new PeriodRule(span, new Anchor(origin), context.rows))

  override private[window] def emptyingEvents: Option[Make[(EvictionRule, ArrivalEviction)]] =
    emptyingRule.map(rule => context => (rule(context), NoArrivalEviction))
}

/** Evicts a row at the end of the span in which it arrived; consecutive spans start at the
  * anchor.
  */
private final class PeriodRule(span: Span, anchor: Anchor, rows: Rows) extends EvictionRule {
  override def usesTime: Boolean = true
  override def arrive(at: Long): Unit = anchor.arrive(at)
  override def due(row: Long): Long = span.nextAfter(rows.arrival(row), anchor.instant)

  override def firstStaying(head: Long, end: Long, at: Long): Long =
    if (due(end - 1) <= at) end
    // Rows of several spans are held only if an earlier run used a longer span.
    else super.firstStaying(head, end, at)

  override def reason: Int = ChangeReason.Trigger
  override def clear(): Unit = anchor.clear()
  override def save(out: ByteWriter): Unit = anchor.save(out)
  override def restore(in: ByteReader): Unit = anchor.restore(in)
}

/** Completes a batch at the end of each span; consecutive spans start at the anchor. After a
  * batch without inserts and deletes, the timer stops until the next row.
  *
  * @param forced
  *   true if the timer keeps running instead and empty batches are emitted
  */
private final class PeriodBatchTrigger(span: Span, anchor: Anchor, forced: Boolean)
    extends BatchTrigger {
  private var timer = Clock.Never

  override def endAfter(row: Long, at: Long, first: Long, count: Long): Long = {
    anchor.arrive(at)
    if (timer == Clock.Never) timer = span.nextAfter(at, anchor.instant)
    WindowView.NoRow
  }

  override def due: Long = timer

  override def posted(at: Long, byTime: Boolean, something: Boolean): Unit =
    timer = if (something || forced) span.nextAfter(at, anchor.instant) else Clock.Never

  override def skip(until: Long): Unit =
    if (forced && timer <= until) timer = span.nextAfter(until, anchor.instant)

  override def emitsEmpty: Boolean = forced

  override def clear(): Unit = {
    anchor.clear()
    timer = Clock.Never
  }

  override def save(out: ByteWriter): Unit = {
    anchor.save(out)
    out.number(timer)
  }

  override def restore(in: ByteReader): Unit = {
    anchor.restore(in)
    timer = in.number()
  }
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
