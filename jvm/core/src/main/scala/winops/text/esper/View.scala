package winops.text.esper

import winops.policy.{Beside, Statistic, Window}
import winops.terms.RowExpression

/** One window of a chain.
  *
  * @param parameters
  *   canonical texts of the parameters
  * @param role
  *   effect of the window in the chain
  * @param offset
  *   place of the window's name
  */
private[esper] final case class View(
    name: String,
    parameters: Seq[String],
    role: Role,
    offset: Int) {

  /** The canonical text of the window: `#length(3)`. */
  def text: String =
    s"#$name${if (parameters.isEmpty) "" else parameters.mkString("(", ", ", ")")}"

  def isGroup: Boolean = role.isInstanceOf[Role.Groups]
  def isMerge: Boolean = role.isInstanceOf[Role.Merges]
  def isRetaining: Boolean = role.isInstanceOf[Role.Retains]
  def isComputing: Boolean = role.isInstanceOf[Role.Computes]
}

/** The effect of a window in a chain. */
private[esper] sealed trait Role

private[esper] object Role {

  /** Retains rows.
    *
    * @param countsFromOrigin
    *   true if the window counts time from the scope's origin
    */
  final case class Retains(window: Window, countsFromOrigin: Boolean = false) extends Role {
    def counting: Retains = copy(countsFromOrigin = true)
  }

  /** groupwin: creates the windows behind it for each group. */
  final case class Groups(keys: Seq[RowExpression]) extends Role

  /** merge: ends the division into groups. */
  final case class Merges(keys: Seq[RowExpression]) extends Role

  /** Computes values from the rows instead of retaining them.
    *
    * @param of
    *   numeric expressions that the statistic is computed from
    * @param beside
    *   further columns of the output row
    */
  final case class Computes(statistic: Statistic, of: Seq[RowExpression], beside: Seq[Beside])
      extends Role
}
