package winops.window.piece

import winops.storage.rows.Rows
import winops.terms.{Purpose, RowExpression}
import winops.window.contents.WindowContext.Make
import winops.window.rules.{ArrivalEviction, EvictionRule, Part, RulePart}

/** The rule that says which rows exceed a window: one of the four pieces of a window. The window
  * evicts these rows at its leave trigger. Each bound is a file of its own, with the classes that
  * run it.
  *
  * What a bound does not say is a compiler error if a default would give wrong rows or words, or
  * hide what the bound can do. The other defaults refuse a query whose windows need a way to run
  * that the bound does not have.
  */
abstract class Bound {

  /** Returns true if rows exceed the bound because time passes. */
  def usesTime: Boolean

  /** Returns true if, in a window by arrival, no row leaves before one that arrived earlier. */
  def evictsOldestFirst: Boolean

  /** Returns false if the bound can evict a row from its own window alone, or the rows of a batch
    * together. In an intersection, other windows then hold rows on both sides of one that leaves.
    */
  def evictsFromAll: Boolean

  /** Returns true if the bound evicts each row independently of all other rows. */
  def looksAtEachRow: Boolean

  /** Returns true if rows leave as soon as they exceed the bound. */
  def leavesAtOnce(leave: Trigger): Boolean

  /** The expressions that the bound reads from rows. */
  def reads: Seq[(Purpose, RowExpression)]

  /** The [[winops.window.changes.ChangeReason]]s of rows that exceed the bound. */
  def reasons(leave: Trigger): Seq[Int]

  /** The class of windows of any length among which a restart may choose another length. */
  def resizable(leave: Trigger): Option[Resizable]

  /** Says how a group fills that was kept by `before`, a shorter bound of the same class; None if
    * that bound is not shorter.
    */
  def growth(before: Bound): Option[String] = None

  /** The number of rows that a window holds at most between steps, if the bound limits it. */
  def mostRows(leave: Trigger): Option[Long] = None

  /** Returns true if the rows that the bound evicts are known whatever other rows leave, so that
    * rows can have a primary key.
    */
  private[window] def takesKeys: Boolean = false

  /** The number of newest rows that the bound keeps, if their number alone decides. */
  private[winops] def newestRows: Option[Long] = None

  // The ways to run the bound.

  /** The rule of a single window whose oldest rows leave at `leave`. */
  private[window] def rule(leave: Trigger): Option[Make[EvictionRule]] = None

  /** The rule that evicts each row as soon as it exceeds the bound, if a number of rows or their
    * ages decide. It stores nothing.
    */
  private[window] def ruleAtOnce: Option[Rows => EvictionRule] = None

  /** One of several windows by arrival that evicts each row as soon as it exceeds the bound. */
  private[window] def part: Option[Make[Part]] =
    ruleAtOnce.map(rule => context => new RulePart(rule(context.rows), context.held))

  /** A window by arrival over rows with a primary key, whose rows leave at `leave`, and behind
    * which the next `buffer` rows are stored; None if no row returns into such a window.
    */
  private[window] def bufferedPart(leave: Trigger, buffer: Long): Option[Make[Part]] = None

  /** One of several windows by arrival of which rows enter at `enter` and leave at `leave`.
    *
    * @param inUnion
    *   true if a row leaves when all windows have evicted it
    */
  private[window] def partAt(
      enter: Trigger,
      leave: Trigger,
      inUnion: Boolean): Option[Make[Part]] = None

  /** The evictions of a window that emits events: by timers, and by rows that arrive. */
  private[window] def events(leave: Trigger): Option[Make[(EvictionRule, ArrivalEviction)]] = None

  // The words of a description. In them "it" and "its" stand for a row.

  /** The events at which rows leave the window. */
  def wordsOf(leave: Trigger): String = leave.words

  /** The conditions under which a row exceeds the bound, for use after "until". */
  def until: Seq[String]

  /** The condition of a bound that evicts rows from the oldest row on while it holds; None for
    * other bounds.
    */
  def whileEvicting: Option[String]

  /** The clause on the rows that a window keeps. */
  def keeps(admit: Admit, order: Order, leave: Trigger): String =
    s"keeps ${held(order)}${sorted(order)}"

  /** The rows that a window holds. */
  protected def held(order: Order): String =
    if (whileEvicting.isDefined) "rows"
    else if (until.isEmpty) "every row"
    else s"each row until ${until.mkString(" or ")}"

  protected def sorted(order: Order): String = order.criteria.fold("")(by => s", sorted by $by")

  /** The clauses on rows that enter and leave. */
  def moves(triggers: Triggers, order: Order): Seq[String] = {
    val Triggers(enter, leave, _) = triggers
    if (enter == EachRow) leaves(leave, order).toSeq
    else if (enter == leave) Seq(s"inserts and evicts rows together ${leave.words}")
    else s"inserts rows only ${enter.words}" +: leaves(leave, order).toSeq
  }

  /** The clause on rows that leave later than they exceed the bound. */
  protected def leaves(leave: Trigger, order: Order): Option[String] =
    Option.unless(leavesAtOnce(leave)) {
      if (leave == Never) "never evicts a row" else s"evicts rows only ${leave.words}"
    }
}
