package winops.text.esper

import winops.policy.Scope
import winops.text.dialect.{ColumnName, Columns, Problem, Token}

/** Resolves the names in expressions.
  *
  * @param scope
  *   gives columns and parameters
  * @param prefixes
  *   names of the stream, which may precede a column
  */
private[esper] final class Properties(scope: Scope, prefixes: Set[String]) {

  private val columns = new Columns(scope)

  /** Resolves a name, which may have further names after dots. In the condition of a window,
    * properties of the window come first. Next come columns, then parameters. A name that is none
    * of these is `unknown-column`. If the scope has no columns, such a name is a column.
    *
    * @param path
    *   the name and the names after dots
    * @param inCondition
    *   true in the condition of a window
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
