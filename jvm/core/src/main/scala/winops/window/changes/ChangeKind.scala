package winops.window.changes

/** Kinds of entries in a [[ChangeQueue]]. */
object ChangeKind {
  val Delete = 0
  val Insert = 1

  /** Rows were deleted because their whole group was removed. */
  val GroupDelete = 2

  /** The window contents at a report trigger. */
  val Trigger = 3

  /** The window contents when the window is full for the first time. */
  val InitialFull = 4

  /** The window contents at the end of the input. */
  val Final = 5

  /** A trigger at which no row was inserted or deleted. */
  val EmptyTrigger = 6

  /** Returns true for inserts and deletes, false for reported contents. */
  def isChange(kind: Int): Boolean = kind <= GroupDelete
}
