package winops.window.piece

/** A class of windows that differ only in their length: a number of rows, or a span of time.
  * These windows store their rows in the same way, so one window can continue with the rows that
  * another one has stored. Rows that exceed the new window leave as if they had exceeded it only
  * now.
  *
  * {{{
  * KEEP 100 ROWS        KEEP 20 ROWS SLACK 5        KEEP ALL
  * }}}
  *
  * @param name
  *   name of the class in a checkpoint
  */
final case class Resizable(name: String)

object Resizable {

  /** Windows that evict rows because of other rows, and never because of time. */
  val ByRows: Resizable = Resizable("rows")

  /** Windows that evict each row at an age. */
  val ByAge: Resizable = Resizable("interval")
}
