package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.internal.WinopsErrors
import winops.spark.plan.KeepPlan

/** Classifies rows by the punctuation column: an ordinary row, or a punctuation of the stream.
  *
  * @param ordinal
  *   the ordinal of the column in a row of the window; -1 if there is no such column
  * @param column
  *   the name of the column, for errors
  */
final class Punctuation(ordinal: Int, column: String) {
  import Punctuation._

  /** The kind of the row.
    *
    * @throws WinopsRuntimeException
    *   `WINOPS_PUNCTUATION` if the column has an unknown text
    */
  def of(row: UnsafeRow): Kind =
    if (ordinal < 0 || row.isNullAt(ordinal)) None
    else {
      row.getUTF8String(ordinal) match {
        case WindowText => Window
        case FinalText => Final
        case _ => throw WinopsErrors.runtime("WINOPS_PUNCTUATION", "column" -> column)
      }
    }
}

object Punctuation {
  sealed trait Kind

  /** An ordinary row. */
  case object None extends Kind

  /** A window punctuation, which empties the windows that evict by punctuation. */
  case object Window extends Kind

  /** A final punctuation, which ends the input. */
  case object Final extends Kind

  private val WindowText = UTF8String.fromString("window")
  private val FinalText = UTF8String.fromString("final")

  def of(plan: KeepPlan): Punctuation =
    new Punctuation(plan.punctuationOrdinal, plan.punctuation.fold("")(_.name))
}
