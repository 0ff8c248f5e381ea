package winops.text.esper

import winops.policy.{Beside, RowExpression, Statistic, Window}

/** One window of a chain.
  *
  * @param parameters
  *   its parameters, each in its one spelling
  * @param offset
  *   the place of its name
  */
private[esper] final case class View(
    name: String,
    parameters: Seq[String],
    role: Role,
    offset: Int) {

  /** The window in its one spelling: `#length(3)`. */
  def text: String =
    s"#$name${if (parameters.isEmpty) "" else parameters.mkString("(", ", ", ")")}"

  def isGroup: Boolean = role.isInstanceOf[Role.Groups]
  def isMerge: Boolean = role.isInstanceOf[Role.Merges]
  def isRetaining: Boolean = role.isInstanceOf[Role.Retains]
  def isComputing: Boolean = role.isInstanceOf[Role.Computes]
}

/** What a window of a chain is for. */
private[esper] sealed trait Role

private[esper] object Role {

  /** It retains rows.
    *
    * @param countsFromOrigin
    *   whether it counts time from the scope's origin
    */
  final case class Retains(window: Window, countsFromOrigin: Boolean = false) extends Role {
    def counting: Retains = copy(countsFromOrigin = true)
  }

  /** groupwin: the windows after it are there for each group. */
  final case class Groups(keys: Seq[RowExpression]) extends Role

  /** merge: the groups end here. */
  final case class Merges(keys: Seq[RowExpression]) extends Role

  /** It computes values of the rows instead of retaining them.
    *
    * @param of
    *   the numbers that they are computed of
    * @param beside
    *   what is told with them
    */
  final case class Computes(statistic: Statistic, of: Seq[RowExpression], beside: Seq[Beside])
      extends Role
}
