package winops.spark.group

import winops.window.changes.RowOutcome

/** The reasons for which a row has no effect, as numbers. */
object Refusal {

  /** The row has an effect, or waits for the watermark. */
  final val None = 0

  /** The time of the row is before the watermark. */
  final val Late = 1

  /** The row has no time. */
  final val TimeMissing = 2

  /** The column of the operation has a word that names none. */
  final val OperationUnknown = 3

  /** A column of the primary key is NULL. */
  final val KeyMissing = 4

  /** An insert of a key that the window holds. */
  final val KeyHeld = 5

  /** An update or a delete of a key that the window does not hold. */
  final val NotHeld = 6

  /** The window does not admit the row. */
  final val NotAdmitted = 7

  /** The group holds the most rows that it may. */
  final val MaxRows = 8

  /** The name of each reason in the column `_change_reason`, by its number. */
  val Names: IndexedSeq[String] = IndexedSeq(
    "none",
    "late",
    "time missing",
    "op unknown",
    "key missing",
    "key held",
    "not held",
    "not admitted",
    "max rows")

  /** The reason for an outcome without effect. */
  def of(outcome: Int): Int = outcome match {
    case RowOutcome.KeyHeld => KeyHeld
    case RowOutcome.NotHeld => NotHeld
    case RowOutcome.NotAdmitted => NotAdmitted
    case RowOutcome.NoRoom => MaxRows
    case _ => None
  }
}
