package winops.policy

import winops.terms.{Purpose, RowExpression}
import winops.window.changes.ChangeReason
import winops.window.piece._

/** One window: the four pieces that say which rows it holds, and when they enter and leave.
  *
  * @param admit
  *   rule by which the window admits arriving rows
  * @param order
  *   order of the rows in the window
  * @param bound
  *   rule that says which rows exceed the window
  * @param triggers
  *   events at which rows enter, rows leave, and contents are reported
  */
final case class Window(admit: Admit, order: Order, bound: Bound, triggers: Triggers) {

  /** Returns true if the window depends on time. */
  def usesTime: Boolean =
    admit.usesTime || bound.usesTime || triggers.all.exists(_.usesTime)

  /** Returns true if the window can read the arrival times of rows: for time, or in a condition.
    */
  def readsArrivals: Boolean = usesTime || reads.exists(_._1 == Purpose.Condition)

  /** The expressions that the window reads from rows. */
  def reads: Seq[(Purpose, RowExpression)] =
    admit.reads ++ order.reads ++ bound.reads ++ triggers.all.flatMap(_.reads)

  /** The [[winops.window.changes.ChangeReason]]s of the rows that leave the window. */
  def reasons: Seq[Int] =
    Option.when(order.replaces)(ChangeReason.Replaced).toSeq ++ bound.reasons(triggers.leave)

  /** Returns true if the window refuses a row that lacks a value which it reads. */
  def refusesMissing: Boolean = reads.exists(_._1.needsValue)

  /** Returns true if no row leaves the window before one that arrived earlier. */
  def evictsOldestFirst: Boolean = order.evictsOldestFirst && bound.evictsOldestFirst

  /** Returns true if rows enter when they arrive and leave as soon as they exceed the bound, and
    * the contents are never reported.
    */
  def changesAtOnce: Boolean = triggers.enter == EachRow && triggers.report == Never &&
    bound.leavesAtOnce(triggers.leave)

  /** The number of rows that the window holds at most between steps, if its bound limits it. */
  private[policy] def mostRows: Option[Long] =
    if (triggers.enter == EachRow && triggers.leave != Never) bound.mostRows(triggers.leave)
    else None

  /** The key for which the window holds one row each, if the window has no other rule. */
  private[policy] def keyOfEachRow: Option[Seq[RowExpression]] =
    if (admit == EveryRow) order.keyOfNewestRow(bound)
    else if (order == Arrival && bound == Unbounded) admit.keyOfEachRow
    else None

  /** Returns true if the window evicts each row independently of all other rows. */
  private[policy] def looksAtEachRow: Boolean =
    admit == EveryRow && order == Arrival && bound.looksAtEachRow

  /** The number of newest rows that the window holds, if this number alone decides. */
  private[policy] def newestRows: Option[Long] =
    if (admit == EveryRow && order == Arrival && triggers.enter == EachRow &&
      bound.leavesAtOnce(triggers.leave)) bound.newestRows
    else None

  /** The window over the rows of one key. */
  private[policy] def withinKey: Window =
    if (keyOfEachRow.isEmpty) this
    else if (admit == EveryRow) {
      Window(EveryRow, Arrival, MoreThan(1L), Triggers(EachRow, Excess(1L), Never))
    } else copy(admit = admit.withinKey)
}
