package winops.text.esper

import winops.policy.Scope
import winops.text.dialect.{ColumnName, Columns, Problem, Token}

/** Finds out what names in expressions mean.
  *
  * @param prefixes
  *   the names of the stream itself, which may stand before a column's
  */
private[esper] final class Properties(scope: Scope, prefixes: Set[String]) {

  private val columns = new Columns(scope)

  /** What a name, with names after dots, means: something of the window if the expression is its
    * condition, a column, or a parameter where no column has the name. What is none of them is
    * `unknown-column`; where the columns are not known, everything is one.
    */
  def phrase(path: Seq[Token.Named], inCondition: Boolean): Either[Problem, Phrase] = path match {
    case Seq(Token.Word(name, _)) if inCondition && Words.OfWindow(name) =>
      Right(Phrase(name, name, name, Rank.Atom, isConstant = false))
    case Seq(Token.Word(event, _), rest @ _*) if inCondition && Words.Events(event) =>
      column(rest).map { of =>
        def behind(column: String) = s"$event.$column"
        Phrase(behind(of.text), behind(of.sql), behind(of.name), Rank.Atom, isConstant = false)
      }
    case Seq(Token.Word(prefix, _), rest @ _*) if prefixes(prefix) && rest.nonEmpty =>
      column(rest)
    case Seq(name) if !scope.columns.contains(name.name) =>
      scope.parameters.get(name.name) match {
        case Some(parameter) => Literals.parameter(parameter, name.offset)
        case None => column(path)
      }
    case _ => column(path)
  }

  private def column(path: Seq[Token.Named]): Either[Problem, Phrase] = {
    val names = path.map(_.name)
    val phrase = Phrase(
      names.map(Words.quoted).mkString("."),
      names.map(name => s"`${name.replace("`", "``")}`").mkString("."),
      names.mkString("."),
      Rank.Atom,
      isConstant = false,
      Option.when(names.length == 1)(names.head))
    if (scope.columns.isEmpty) Right(phrase)
    else columns.column(ColumnName(None, path.head)).map(_ => phrase)
  }
}
