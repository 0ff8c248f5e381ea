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

  /** Adds a hint to the error of a text that is valid in, or begins like, another dialect.
    *
    * @param dialect
    *   the dialect in which the text was parsed
    * @param isOne
    *   whether the text is the only window of the call
    */
  def explained(error: PolicyError, dialect: Dialect, scope: Scope, isOne: Boolean): PolicyError =
    meant(error.text, dialect, scope).fold(error) { other =>
      // An error may concern a part of a policy, and that part may be a policy of another
      // dialect.
      val isPlain =
        error.text.length <= ShownChars && !error.text.exists(c => c == '"' || c.isControl)
      val shown = if (isPlain) error.text else "..."
      val python = if (other == Ccl) s"'$shown'" else s"""${other.name}("$shown")"""
      val sql =
        if (!isOne) s"dialect => '${other.name}'"
        else s"${other.name} => '${shown.replace("'", "''")}'"
      error.copy(message =
        s"${error.message}. The text is one of ${other.product}: write $python in Python, $sql in SQL")
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

  private val Opening = "^\\s*(#|@|[A-Za-z_]+)".r
  private val ShownChars = 60
}
