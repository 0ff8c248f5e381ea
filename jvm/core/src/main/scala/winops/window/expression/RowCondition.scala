package winops.window.expression

/** A condition on a row and the window it is in. */
trait RowCondition {

  /** Whether the condition is true; null is false. */
  def holds(view: WindowView): Boolean
}
