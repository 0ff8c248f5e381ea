package winops.window.piece

import winops.terms.{Purpose, RowExpression}
import winops.window.contents.WindowContext.Make
import winops.window.rules.Part

/** The order of the rows in a window: one of the four pieces of a window. The bound evicts rows
  * from one end of this order. Each order is a file of its own.
  */
abstract class Order {

  /** The expressions that the order reads from rows. */
  def reads: Seq[(Purpose, RowExpression)]

  /** Returns true if a newer row of the same key takes the place of a row. */
  def replaces: Boolean

  /** Returns true if no row leaves before one that arrived earlier, unless the bound evicts one.
    */
  def evictsOldestFirst: Boolean

  /** The order, as a piece of a description. */
  def words: String

  /** The rows that a window without a bound keeps of those that it admits. */
  def keptOf(admit: Admit): String

  /** The criteria by which the rows are sorted, if any. */
  def criteria: Option[String]

  /** The clause on rows that replace others, beside a bound. */
  def clause(bound: Bound): Option[String]

  /** The rows that the bound keeps, and those that it evicts. */
  final def kept: String = if (criteria.isEmpty) "newest" else "first"
  final def evicted: String = if (criteria.isEmpty) "oldest" else "last"

  /** The key of which a window with the bound holds the newest row, if this is all that it does.
    */
  private[winops] def keyOfNewestRow(bound: Bound): Option[Seq[RowExpression]] = None

  /** The maker of a window that has this order, evicts at once, and decides together with others;
    * None if there is none with the bound.
    */
  private[window] def part(bound: Bound): Option[Make[Part]]

  /** The maker of the same window over rows with a primary key, behind which the next `buffer`
    * rows of the order are stored; None if no row returns into such a window.
    */
  private[window] def bufferedPart(bound: Bound, buffer: Long): Option[Make[Part]] = None

  /** The maker of the visible rows of a window with net changes, which is null if all rows are
    * visible; None if no such window has this order.
    */
  private[window] def shadows: Option[Make[Shadows]] = None
}
