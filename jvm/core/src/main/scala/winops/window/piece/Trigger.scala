package winops.window.piece

import winops.terms.{Purpose, RowExpression}
import winops.window.contents.WindowContext.Make
import winops.window.rules.{ArrivalEviction, BatchTrigger, EvictionRule, NetTrigger, Part, ReportTrigger}

/** The event at which rows enter, rows leave, or window contents are reported: one of the four
  * pieces of a window. Each trigger is a file of its own, with the classes that run it.
  *
  * The ways to run a trigger have a default: a policy is refused if its windows need a way that a
  * trigger does not have.
  */
abstract class Trigger {

  /** Returns true if the trigger can fire because time passes. */
  def usesTime: Boolean

  /** Returns true if a window punctuation fires the trigger. */
  def firesAtPunctuation: Boolean

  /** The expressions that the trigger reads from rows. */
  def reads: Seq[(Purpose, RowExpression)]

  /** The [[winops.window.changes.ChangeReason]] of the rows of a window that it empties. */
  def reason: Int

  /** The event in English: "when a row arrives". */
  def words: String

  /** The event at which collected rows leave the window, or enter it as a batch. */
  def wordsOfCollected: String = words

  /** The event at which contents are reported. */
  def wordsOfReport: String = words

  /** The class of windows that triggers of this kind empty, if a restart may choose another
    * length.
    */
  def resizable: Option[Resizable] = None

  // The ways to run the trigger.

  /** Ends the batches of a batch window. */
  private[window] def batch: Option[Make[BatchTrigger]] = None

  /** Changes a window that emits net changes. */
  private[window] def net: Option[() => NetTrigger] = None

  /** Reports the contents of a window that emits events. */
  private[window] def report: Option[Make[ReportTrigger]] = None

  /** Empties a single window. */
  private[window] def emptyingRule: Option[Make[EvictionRule]] = None

  /** A window that it empties, and that can decide together with others. */
  private[window] def emptyingPart: Option[Make[Part]] = None

  /** Empties a window that emits events. */
  private[window] def emptyingEvents: Option[Make[(EvictionRule, ArrivalEviction)]] = None
}
