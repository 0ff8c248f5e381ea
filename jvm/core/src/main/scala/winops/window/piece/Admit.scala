package winops.window.piece

import winops.terms.{Purpose, RowExpression}
import winops.window.contents.WindowContext
import winops.window.rules.Part

/** The rule by which a window admits arriving rows: one of the four pieces of a window. Each rule
  * is a file of its own.
  */
abstract class Admit {

  /** Returns true if the rule depends on the time at which a row arrives. */
  def usesTime: Boolean

  /** The expressions that the rule reads from rows. */
  def reads: Seq[(Purpose, RowExpression)]

  /** The admitted rows, for use after "keeps". */
  def words: String

  /** The clause on the rows that enter, for a window with an order or a bound of its own. */
  def clause: Option[String]

  /** The key of which the rule admits one row at a time, if there is one. */
  private[winops] def keyOfEachRow: Option[Seq[RowExpression]] = None

  /** The rule over the rows of one key of [[keyOfEachRow]]. */
  private[winops] def withinKey: Admit = this

  /** Makes a window without a bound that admits rows by the rule. */
  private[window] def part(context: WindowContext): Part
}
