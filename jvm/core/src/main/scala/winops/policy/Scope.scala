package winops.policy

/** What a policy's text may refer to.
  *
  * @param parameters
  *   the values of named parameters
  * @param columns
  *   the names of the rows' columns
  * @param origin
  *   where periodic beats start to count when the text does not say
  */
final case class Scope(
    parameters: Map[String, Parameter] = Map.empty,
    columns: Seq[String] = Nil,
    origin: Origin = Origin.epoch)

/** The value of a named parameter. */
sealed trait Parameter

object Parameter {
  final case class Whole(value: Long) extends Parameter
  final case class Fraction(value: BigDecimal) extends Parameter
  final case class Text(value: String) extends Parameter
}
