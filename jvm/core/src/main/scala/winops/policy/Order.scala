package winops.policy

/** The order of the rows in a window: one of the four pieces of a window. The bound evicts rows
  * from one end of this order.
  */
sealed trait Order

object Order {

  /** By arrival, the oldest row first. */
  case object Arrival extends Order

  /** By sort criteria. The bound evicts rows from the end. Of equal rows the oldest is last. */
  final case class Sorted(by: Seq[SortKey]) extends Order

  /** By arrival. An arriving row replaces the previous row of its key. */
  final case class Replacing(keys: Seq[RowExpression]) extends Order

  /** By sort criteria, as in [[Sorted]]. An arriving row replaces the previous row of its key. */
  final case class Ranked(keys: Seq[RowExpression], by: Seq[SortKey]) extends Order

  /** By arrival. Of the rows of a key only the newest is visible. The older rows count towards
    * the bound, but never become visible again.
    */
  final case class Shadowing(keys: Seq[RowExpression]) extends Order
}
