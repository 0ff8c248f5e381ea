package winops.spark.analysis

import winops.policy.{PolicyError, Scope}
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.dialect.{Dialect, Names}
import winops.text.esper.Esper
import winops.text.spl.Spl

/** The dialects of policies. The name of a dialect is also the name of the argument that takes
  * its text.
  */
object Dialects {
  val all: Seq[Dialect] = Seq(Ccl, Esper, Apama, Spl)

  def named(name: String): Option[Dialect] = all.find(_.name == name)

  /** Adds a hint to the error of a text that is valid in, or begins like, another dialect, or
    * that is a whole statement of CCL.
    *
    * @param dialect
    *   the dialect in which the text was parsed
    * @param isOne
    *   whether the text is the only window of the call
    */
  def explained(error: PolicyError, dialect: Dialect, scope: Scope, isOne: Boolean): PolicyError =
    if (dialect == Ccl) {
      keepClause(error.text, scope).fold(inOtherDialect(error, dialect, scope, isOne)) { clause =>
        error.copy(message = s"${error.message}. Give only the KEEP clause$clause")
      }
    } else inOtherDialect(error, dialect, scope, isOne)

  private def inOtherDialect(
      error: PolicyError,
      dialect: Dialect,
      scope: Scope,
      isOne: Boolean): PolicyError =
    meant(error.text, dialect, scope).fold(error) { other =>
      // An error may concern a part of a policy, and that part may be a policy of another
      // dialect.
      val shown = if (isPlain(error.text)) error.text else "..."
      val python = if (other == Ccl) s"'$shown'" else s"""${other.name}("$shown")"""
      val sql =
        if (!isOne) s"dialect => '${other.name}'"
        else s"${other.name} => '${shown.replace("'", "''")}'"
      error.copy(
        message =
          s"${error.message}. The text is one of ${other.product}: write $python in Python, $sql in SQL",
        meantDialect = Some(other.name))
    }

  /** The dialect other than `readIn` in which the text is probably written. */
  private def meant(text: String, readIn: Dialect, scope: Scope): Option[Dialect] = {
    val first = Opening.findFirstMatchIn(text).map(found => Names.upper(found.group(1)))
    val others = all.filter(_ != readIn)
    if (first.exists(readIn.openings)) None
    else {
      others
        .find(other => first.exists(other.openings))
        .orElse(others.find(_.parse(text, scope).isRight))
    }
  }

  /** The end of a sentence that shows the KEEP clause of a statement of CCL, or an example of
    * one.
    */
  private def keepClause(text: String, scope: Scope): Option[String] = {
    val statement = Statement.findFirstMatchIn(text).map(found => Names.upper(found.group(1)))
    for {
      first <- statement
      keep <- Keep.findFirstMatchIn(text)
      rest = text.substring(keep.start)
      // Other clauses may follow, so the longest valid text is the clause.
      ends = Ends.findAllMatchIn(rest).map(_.start).take(ClauseWords).toSeq.reverse
      clause = ends.map(rest.substring(0, _)).find(Ccl.parse(_, scope).isRight)
      // SELECT without a valid KEEP clause is more likely a statement of Esper.
      if clause.isDefined || first != "SELECT"
    } yield clause.filter(isPlain).fold(", such as KEEP 100 ROWS")(shown => s": $shown")
  }

  /** Returns true if a message can repeat the text as it is. */
  private def isPlain(text: String): Boolean =
    text.length <= ShownChars && !text.exists(c => c == '"' || c.isControl)

  private val Statement = "^\\s*(?i)(SELECT|CREATE|INSERT)\\b".r
  private val Keep = "(?i)\\bKEEP\\b".r
  private val Ends = "(?=\\s|;|$)".r
  private val ClauseWords = 20
  private val Opening = "^\\s*(#|@|[A-Za-z_]+)".r
  private val ShownChars = 60
}
