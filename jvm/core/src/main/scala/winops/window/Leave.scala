package winops.window

import winops.log.{ByteReader, ByteWriter}
import winops.policy.{Beat, Bound, Origin, Policy}

/** The hook that applies the bound: which of the oldest rows go, and when. */
private[window] sealed abstract class Leave {

  /** The first instant at which rows leave though none arrives; [[Machine.Never]] if none does. */
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
  def of(policy: Policy): Leave = (policy.bound, policy.beats.leave) match {
    case (Bound.Unbounded, Beat.Never) => NothingLeaves
    case (Bound.MoreThan(rows), Beat.Excess(excess)) => new OldestInExcess(rows, excess)
    case (Bound.AgeReached(micros), Beat.WhenDue) => new OldestWhenDue(micros)
    case (Bound.Everything, Beat.Period(micros, Origin.At(millis))) =>
      new AllAtPeriod(micros, Some(millis))
    case (Bound.Everything, Beat.Period(micros, Origin.FirstRow)) => new AllAtPeriod(micros, None)
    case (bound, beat) =>
      throw new IllegalArgumentException(s"no window has the bound $bound with the beat $beat")
  }
}

private case object NothingLeaves extends Leave

/** When the window holds `excess` rows more than `rows`, that many of the oldest leave. */
private final class OldestInExcess(rows: Long, excess: Long) extends Leave {
  override def afterRow(window: Machine, at: Long): Unit =
    if (window.size == rows + excess) window.removeOldest(excess, at)
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

/** Every row leaves at the end of the interval it arrived in; intervals are `micros` long and count
  * from `origin`, or from the group's first row.
  */
private final class AllAtPeriod(micros: Long, origin: Option[Long]) extends Leave {
  private var anchor = 0L
  private var anchored = false

  override def afterRow(window: Machine, at: Long): Unit =
    if (!anchored) {
      anchor = origin.getOrElse(at)
      anchored = true
    }

  override def due(window: Machine): Long =
    if (window.size == 0) Machine.Never
    else {
      val sinceAnchor = (window.oldestArrival - anchor) * Clock.MicrosPerMilli
      val end = (Math.floorDiv(sinceAnchor, micros) + 1) * micros
      anchor + Clock.ceilToMillis(end)
    }

  override def atDue(window: Machine, due: Long): Unit = window.removeOldest(window.size, due)

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
