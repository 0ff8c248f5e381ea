package winops.spark.group

import winops.spark.state.HistoryTimes
import winops.window.changes.ChangeQueue

/** Decides which output of the open group is dropped, because it is that of a table before the
  * stream.
  */
sealed abstract class Silence {

  /** Begins with the rows of the micro-batch that are applied in one order. */
  def begin(): Unit

  /** Opens one of the groups of these rows. */
  def opens(): Unit

  /** Takes note of the row that is applied next.
    *
    * @param isOfHistory
    *   true for a row of the table
    */
  def arrives(isOfHistory: Boolean): Unit

  /** Takes note that a timer has fired.
    *
    * @param historyUntil
    *   the greatest known time of the group's rows of the table, in milliseconds
    */
  def fires(historyUntil: Long): Unit

  /** Takes note that the group has no more steps before it is closed. */
  def ends(): Unit

  /** True if the next output row is dropped. */
  def isNow: Boolean
}

object Silence {

  /** The silence of window functions. */
  def of(times: BatchTimes, over: OverOperation): Silence =
    new OfRows(over, times.history.exists(_.isSilent))

  /** The silence of retention windows. */
  def of(times: BatchTimes, changes: ChangeQueue): Silence =
    times.history
      .filter(_.isSilent)
      .fold[Silence](None)(new OfSteps(_, changes, times.stamp.isDefined))

  private object None extends Silence {
    override def begin(): Unit = ()
    override def opens(): Unit = ()
    override def arrives(isOfHistory: Boolean): Unit = ()
    override def fires(historyUntil: Long): Unit = ()
    override def ends(): Unit = ()
    override def isNow: Boolean = false
  }

  /** Drops the output of each step that a row of the table causes, or a timer that is silent: one
    * up to [[HistoryTimes.silentUntil]], or up to the time of a row of the table in the group.
    *
    * @param hasNoTime
    *   true without a time column: timers are then silent until the first row of the stream
    */
  private final class OfSteps(history: HistoryTimes, changes: ChangeQueue, hasNoTime: Boolean)
      extends Silence {
    private var isSilent = false

    /** True if a row of the stream has been applied. */
    private var hasStarted = false

    /** True if a step since the group was opened has not been silent. */
    private var hasSpoken = false

    override def begin(): Unit = {
      isSilent = history.isRead
      hasStarted = false
      opens()
    }

    override def opens(): Unit = hasSpoken = false

    override def arrives(isOfHistory: Boolean): Unit = {
      if (!isOfHistory) hasStarted = true
      set(isOfHistory)
    }

    override def fires(historyUntil: Long): Unit =
      set(
        if (hasNoTime) history.isRead && !hasStarted
        else changes.stepAt <= Math.max(history.silentUntil, historyUntil))

    // Some outputs emit the values after the last step before the group is closed.
    override def ends(): Unit = isSilent = !hasSpoken

    override def isNow: Boolean = isSilent

    private def set(silent: Boolean): Unit = {
      isSilent = silent
      if (!silent) hasSpoken = true
    }
  }

  /** Drops the rows of the table, whenever their results become known.
    *
    * @param isSilent
    *   true if rows of the table have no output
    */
  private final class OfRows(over: OverOperation, isSilent: Boolean) extends Silence {
    override def begin(): Unit = ()
    override def opens(): Unit = ()
    override def arrives(isOfHistory: Boolean): Unit =
      if (isSilent && isOfHistory) over.silenceNext()
    override def fires(historyUntil: Long): Unit = ()
    override def ends(): Unit = ()
    override def isNow: Boolean = over.isNextSilent
  }
}
