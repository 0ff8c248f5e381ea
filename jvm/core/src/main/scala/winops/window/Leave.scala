package winops.window

import winops.log.{ByteReader, ByteWriter}
import winops.policy._

/** The hook that applies the bound: which of the oldest rows go, and when. */
private[window] sealed abstract class Leave {

  /** The first instant at which rows leave though none arrives; [[Machine.Never]] if none does.
    */
  def due(window: Machine): Long = Machine.Never

  /** What the arrival of the newest row, at `at`, makes leave. */
  def afterRow(window: Machine, at: Long): Unit = ()

  /** What leaves at `due`, an instant that [[due]] gave. */
  def atDue(window: Machine, due: Long): Unit = ()

  /** Forgets what it knows of the group. */
  def clear(): Unit = ()
  def save(out: ByteWriter): Unit = ()
  def restore(in: ByteReader): Unit = ()
}

private[window] object Leave {

  /** The hook of a policy; a combination of pieces that no window has is refused. */
  def of(policy: Policy): Leave = policy.retention match {
    case Retention.One(
          Window(
            Admit.All,
            Order.Arrival,
            bound,
            Beats(Beat.EachRow, leave, Beat.Never))) if policy.stream == Stream.InsertsThenDeletes =>
      of(bound, leave)
    case _ => refused(policy)
  }

  private def of(bound: Bound, leave: Beat): Leave = (bound, leave) match {
    case (Bound.Unbounded, Beat.Never) => NothingLeaves
    case (Bound.MoreThan(rows), Beat.Excess(excess)) => new OldestInExcess(rows, excess)
    case (Bound.AgeReached(span), Beat.WhenDue) => new OldestWhenDue(span.micros)
    case (Bound.Everything, Beat.Period(Span(0L, micros), Origin.At(millis), false)) =>
      new AllAtPeriod(micros, millis)
    case (Bound.Everything, Beat.Period(Span(0L, micros), Origin.FirstRow, false)) =>
      new AllAtPeriodFromFirstRow(micros)
    case other => refused(other)
  }

  private def refused(what: Any): Nothing =
    throw new IllegalArgumentException(s"no window has the pieces $what")
}

private case object NothingLeaves extends Leave

/** When the window holds `excess` rows more than `rows`, that many of the oldest leave. */
private final class OldestInExcess(rows: Long, excess: Long) extends Leave {
  override def afterRow(window: Machine, at: Long): Unit =
    if (window.size >= rows + excess) window.removeOldest(window.size - rows, at)
}

/** Each row leaves when it is `micros` old: age equal to the interval is out. */
private final class OldestWhenDue(micros: Long) extends Leave {
  private val millis = Clock.ceilToMillis(micros)

  override def due(window: Machine): Long =
    if (window.size == 0) Machine.Never else window.oldestArrival + millis

  override def atDue(window: Machine, due: Long): Unit = {
    var leaving = 0L
    while (leaving < window.size && window.arrivalOf(leaving) + millis <= due) leaving += 1
    window.removeOldest(leaving, due)
  }
}

/** Every row leaves at the end of the interval it arrived in; intervals are `micros` long and
  * count from `anchor`, in milliseconds.
  */
private class AllAtPeriod(micros: Long, protected var anchor: Long) extends Leave {
  override def due(window: Machine): Long =
    if (window.size == 0) Machine.Never
    else {
      val sinceAnchor = (window.oldestArrival - anchor) * Clock.MicrosPerMilli
      val end = (Math.floorDiv(sinceAnchor, micros) + 1) * micros
      anchor + Clock.ceilToMillis(end)
    }

  override def atDue(window: Machine, due: Long): Unit = window.removeOldest(window.size, due)
}

/** As [[AllAtPeriod]], but intervals count from the first row that the group ever had. */
private final class AllAtPeriodFromFirstRow(micros: Long) extends AllAtPeriod(micros, 0L) {
  private var anchored = false

  override def afterRow(window: Machine, at: Long): Unit =
    if (!anchored) {
      anchor = at
      anchored = true
    }

  override def clear(): Unit = anchored = false

  override def save(out: ByteWriter): Unit = {
    out.byte(if (anchored) 1 else 0)
    out.number(anchor)
  }

  override def restore(in: ByteReader): Unit = {
    anchored = in.byte() == 1
    anchor = in.number()
  }
}
