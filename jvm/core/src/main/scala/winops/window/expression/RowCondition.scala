package winops.window.expression

/** A condition on a row and the window that holds the row. */
trait RowCondition {

  /** Returns true if the condition is true; null counts as false. */
  def holds(view: WindowView): Boolean
}
