package winops.policy

/** Order: what "oldest" means. */
sealed trait Order

object Order {
  case object Arrival extends Order

  /** By criteria; what is too much is the end. Of equal rows the oldest stands last. */
  final case class Sorted(by: Seq[SortKey]) extends Order

  /** By arrival; a row takes the place of the previous row of its key. */
  final case class Replacing(keys: Seq[RowExpression]) extends Order

  /** By criteria, as [[Sorted]]; a row takes the place of the previous row of its key. */
  final case class Ranked(keys: Seq[RowExpression], by: Seq[SortKey]) extends Order

  /** By arrival; of the rows of a key only the newest is seen, the others count but never come
    * back.
    */
  final case class Shadowing(keys: Seq[RowExpression]) extends Order
}
