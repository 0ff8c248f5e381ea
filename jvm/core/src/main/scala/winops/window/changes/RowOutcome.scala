package winops.window.changes

/** The effect of a row on the window, as a number. */
object RowOutcome {

  /** The row was inserted. */
  val Inserted = 0

  /** The row has given its values to the row of its key. */
  val Updated = 1

  /** The row of the same key was removed. */
  val Deleted = 2

  /** No effect: an insert of a key that the window holds. */
  val KeyHeld = 3

  /** No effect: an update or a delete of a key that the window does not hold. */
  val NotHeld = 4

  /** No effect: the window did not admit the row. */
  val NotAdmitted = 5

  /** No effect: the row would have been inserted, but the group may hold no further row. */
  val NoRoom = 6

  /** Returns true if the row has changed the window. */
  def hasEffect(outcome: Int): Boolean = outcome <= Deleted
}
