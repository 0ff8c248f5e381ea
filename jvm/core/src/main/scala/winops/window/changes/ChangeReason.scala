package winops.window.changes

/** Reasons for which rows enter and leave a window, as numbers in a [[ChangeQueue]]. */
object ChangeReason {

  /** The row was inserted when it arrived. */
  val Arrived = 0

  /** A trigger inserted the rows of a batch, or deleted all rows that it had collected. */
  val Trigger = 1

  /** The window had too many rows, and newer rows or rows before it in the order stayed. */
  val Displaced = 2

  /** The row reached its age, its deadline, or a distance in time from a newer row. */
  val Expired = 3

  /** A newer row of the same key replaced the row. */
  val Replaced = 4

  /** The condition of the window did not hold for the row. */
  val Condition = 5

  /** The value of a newer row was too far above the row's value. */
  val Distance = 6

  /** No row had arrived for the time span of the window. */
  val Silence = 7

  /** A window punctuation arrived. */
  val Punctuation = 8

  /** The group was removed because no row had arrived for its idle time. */
  val GroupIdle = 9

  /** The group was removed because there were too many groups or rows. */
  val GroupLimit = 10

  /** A restart replaced the window by another one, which does not have the row. */
  val WindowChanged = 11

  /** An operation has updated the row. */
  val Updated = 12

  /** An operation has deleted the row. */
  val Deleted = 13

  /** The row has returned from behind the window, because another row has made room. */
  val Returned = 14

  /** The name of each reason in the column `_change_reason`, by its number. */
  val Names: IndexedSeq[String] = IndexedSeq(
    "arrived",
    "trigger",
    "displaced",
    "expired",
    "replaced",
    "condition",
    "distance",
    "silence",
    "punctuation",
    "group idle",
    "group limit",
    "window changed",
    "updated",
    "deleted",
    "returned")
}
