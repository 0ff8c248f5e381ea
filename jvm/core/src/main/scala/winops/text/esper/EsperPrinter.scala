package winops.text.esper

import winops.policy.Reclaim
import winops.terms.{Origin, Stream}
import winops.text.dialect.Origins

/** The canonical text of a statement. Parsing it gives an equal policy, unless it ends in an
  * origin.
  *
  * The text leaves out defaults. Without a selector, a filter and a select list, the chain of
  * windows is the whole statement. Esper has no word for the origin of periods, so an origin
  * other than the first row is appended in words that the parser does not read.
  *
  * @param origin
  *   origin that the scope gives
  */
private[esper] final case class EsperPrinter(statement: Statement, origin: Option[Origin]) {

  def text: String = around(views)

  /** The text without groupwin. */
  def window: String = around(views.filterNot(_.isGroup))

  /** Esper: a merge at the end of a chain has no effect. */
  private def views: Seq[View] =
    if (statement.views.last.isMerge) statement.views.init else statement.views

  private def around(views: Seq[View]): String = {
    val chain = Seq(from + views.map(_.text).mkString)
    val parts = hint ++ select ++ chain ++ retained ++ grouping ++ counting
    parts.mkString(" ")
  }

  private def hint: Option[String] =
    statement.reclaim.collect { case swept: Reclaim.SweptAtArrival => HintParsers.text(swept) }

  private def select: Option[String] =
    Option.when(isStatement) {
      val list = statement.list.fold("*")(_.columns.text.mkString(", "))
      s"select $selector $list from"
    }

  private def from: String = {
    val filter = statement.filter.map(_.text.mkString("(", "", ")")).getOrElse("")
    if (isStatement) s"${Words.Stream}$filter" else ""
  }

  private def isStatement: Boolean =
    statement.stream != Stream.InsertsThenDeletes || statement.filter.isDefined ||
      statement.list.isDefined

  private def selector: String = (statement.stream.inserts, statement.stream.deletes) match {
    case (true, true) => "irstream"
    case (true, false) => "istream"
    case (false, _) => "rstream"
  }

  private def retained: Option[String] = {
    val isSeveral = statement.views.count(_.isRetaining) > 1
    Option.when(statement.isUnion && isSeveral)("retain-union")
  }

  private def grouping: Option[String] =
    statement.list.map(_.by.text).filter(_.nonEmpty).map(_.mkString("group by ", ", ", ""))

  private def counting: Option[String] = {
    val counts = statement.views.map(_.role).exists {
      case Role.Retains(_, countsFromOrigin) => countsFromOrigin
      case _ => false
    }
    origin.filter(counts && _ != Origin.FirstRow).map(Origins.words)
  }
}
