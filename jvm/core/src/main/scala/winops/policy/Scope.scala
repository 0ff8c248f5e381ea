package winops.policy

/** What a policy's text may refer to.
  *
  * @param parameters
  *   the values of named parameters
  * @param columns
  *   the names of the rows' columns
  * @param origin
  *   where periodic triggers start to count when the text does not say; none where the dialect has
  *   an origin of its own
  * @param kinds
  *   what kind of values the columns have, by name
  * @param isGrouped
  *   whether the group is given beside the text
  */
final case class Scope(
    parameters: Map[String, Parameter] = Map.empty,
    columns: Seq[String] = Nil,
    origin: Option[Origin] = None,
    kinds: Map[String, ColumnKind] = Map.empty,
    isGrouped: Boolean = false)

/** What a dialect has to know of a column's type. */
sealed trait ColumnKind

object ColumnKind {
  case object WholeNumber extends ColumnKind
  case object RealNumber extends ColumnKind
  case object Timestamp extends ColumnKind
  case object Other extends ColumnKind
}

/** The value of a named parameter. */
sealed trait Parameter

object Parameter {
  final case class Whole(value: Long) extends Parameter
  final case class Fraction(value: BigDecimal) extends Parameter
  final case class Text(value: String) extends Parameter
}
