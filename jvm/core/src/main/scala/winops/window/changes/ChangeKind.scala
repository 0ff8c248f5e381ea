package winops.window.changes

/** Kinds of entries in a [[ChangeQueue]]. */
object ChangeKind {
  val Delete = 0
  val Insert = 1

  /** Rows were deleted because their whole group was removed. */
  val GroupDelete = 2

  /** A row of the window with the values that an update replaces. */
  val UpdateBefore = 3

  /** The same row with the values that the update gives it. */
  val UpdateAfter = 4

  /** The window contents at a report trigger. */
  val Trigger = 5

  /** The window contents when the window is full for the first time. */
  val InitialFull = 6

  /** The window contents at the end of the input. */
  val Final = 7

  /** A trigger at which no row was inserted or deleted. */
  val EmptyTrigger = 8

  /** Returns true for inserts, deletes and updates, false for reported contents. */
  def isChange(kind: Int): Boolean = kind <= UpdateAfter
}
