package winops.policy

import winops.terms.Origin

/** The names and settings that a policy's text can refer to.
  *
  * @param parameters
  *   values of the named parameters
  * @param columns
  *   names of the rows' columns
  * @param origin
  *   instant from which periodic triggers count if the text gives none; None selects the
  *   dialect's own origin
  * @param kinds
  *   kinds of the columns' values, by column name
  * @param isGrouped
  *   true if the group is given beside the text
  */
final case class Scope(
    parameters: Map[String, Parameter] = Map.empty,
    columns: Seq[String] = Nil,
    origin: Option[Origin] = None,
    kinds: Map[String, ColumnKind] = Map.empty,
    isGrouped: Boolean = false)

/** The kind of a column's type, as far as dialects distinguish types. */
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
