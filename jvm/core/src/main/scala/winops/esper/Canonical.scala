package winops.esper

import winops.dialect.Origins
import winops.policy.{Origin, Reclaim, Stream}

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

  def text: String = around(statement.views.filter(isToldInText))

  /** The same without groupwin. */
  def window: String = around(statement.views.filter(isToldInWindow))

  /** Esper: merge at the end changes nothing. */
  private def isToldInText(view: View): Boolean = view.role match {
    case _: Role.Merges => false
    case _ => true
  }

  private def isToldInWindow(view: View): Boolean = view.role match {
    case _: Role.Retains => true
    case _ => false
  }

  private def around(views: Seq[View]): String = {
    val parts = hint ++ select ++ Seq(from + views.map(_.text).mkString) ++ retained ++ counting
    parts.mkString(" ")
  }

  private def hint: Option[String] =
    statement.reclaim.collect { case swept: Reclaim.SweptAtArrival => HintParsers.text(swept) }

  private def select: Option[String] =
    Option.when(isStatement)(s"select $selector * from")

  private def from: String = {
    val filter = statement.filter.map(_.text.mkString("(", "", ")")).getOrElse("")
    if (isStatement) s"${Words.Stream}$filter" else ""
  }

  private def isStatement: Boolean =
    statement.stream != Stream.InsertsThenDeletes || statement.filter.isDefined

  private def selector: String = (statement.stream.inserts, statement.stream.deletes) match {
    case (true, true) => "irstream"
    case (true, false) => "istream"
    case (false, _) => "rstream"
  }

  private def retained: Option[String] = {
    val isSeveral = statement.views.count(isToldInWindow) > 1
    Option.when(statement.isUnion && isSeveral)("retain-union")
  }

  private def counting: Option[String] = {
    val counts = statement.views.map(_.role).exists {
      case Role.Retains(_, countsFromOrigin) => countsFromOrigin
      case _ => false
    }
    origin.filter(counts && _ != Origin.FirstRow).map(Origins.words)
  }
}
