package winops.window.changes

/** What an entry of a [[ChangeQueue]] tells. */
object ChangeKind {
  val Delete = 0
  val Insert = 1

  /** Rows left with their whole group. */
  val GroupDelete = 2

  /** The content at a trigger of its own. */
  val Trigger = 3

  /** The content when the window was full for the first time. */
  val InitialFull = 4

  /** The content at the end of the input. */
  val Final = 5

  /** A trigger that is told though nothing happened. */
  val EmptyTrigger = 6

  /** Whether rows came in or left, rather than that a content was told. */
  def isChange(kind: Int): Boolean = kind <= GroupDelete
}
