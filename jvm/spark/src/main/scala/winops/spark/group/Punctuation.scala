package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.internal.WinopsErrors
import winops.spark.plan.KeepPlan

/** What a row is by its column of punctuations: a row like any other, or a mark in the stream.
  *
  * @param ordinal
  *   the place of the column in a row of the content; -1 if there is none
  */
final class Punctuation(ordinal: Int, column: String) {
  import Punctuation._

  /** @throws WinopsRuntimeException
    *   `WINOPS_PUNCTUATION` when the column holds another text
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
  case object None extends Kind

  /** The windows that punctuations empty are emptied. */
  case object Window extends Kind

  /** The input ends. */
  case object Final extends Kind

  private val WindowText = UTF8String.fromString("window")
  private val FinalText = UTF8String.fromString("final")

  def of(plan: KeepPlan): Punctuation =
    new Punctuation(plan.punctuationOrdinal, plan.punctuation.fold("")(_.name))
}
