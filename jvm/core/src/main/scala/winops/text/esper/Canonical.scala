package winops.text.esper

import winops.policy.{Origin, Reclaim, Stream}
import winops.text.dialect.Origins

/** The one text of a statement: read again, it gives an equal policy.
  *
  * What is as it is by default is left out, and a chain of windows is enough where nothing else
  * is told. Esper has no word for the origin that periods count from, so it is told in words that
  * only people read.
  *
  * @param origin
  *   the origin that the scope gives
  */
private[esper] final case class Canonical(statement: Statement, origin: Option[Origin]) {

  def text: String = around(views)

  /** The same without groupwin. */
  def window: String = around(views.filterNot(_.isGroup))

  /** Esper: merge at the end changes nothing. */
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
