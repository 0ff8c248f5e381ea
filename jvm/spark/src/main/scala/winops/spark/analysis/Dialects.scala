package winops.spark.analysis

import winops.policy.{PolicyError, Scope}
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.dialect.{Dialect, Names}
import winops.text.esper.Esper
import winops.text.spl.Spl

/** The languages of policies; the name of each is the argument that takes its texts. */
object Dialects {
  val all: Seq[Dialect] = Seq(Ccl, Esper, Apama, Spl)

  def named(name: String): Option[Dialect] = all.find(_.name == name)

  /** The error of a text, with what to write if the text is one of another language.
    *
    * @param dialect
    *   the language that the text was read in
    * @param isOne
    *   whether no other window is beside it
    */
  def explained(error: PolicyError, dialect: Dialect, scope: Scope, isOne: Boolean): PolicyError =
    meant(error.text, dialect, scope).fold(error) { other =>
      // A part of a policy may be another policy.
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

  /** Another language than the given one that the text is written in. */
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
