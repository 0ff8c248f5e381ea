package winops.text.dialect

import winops.policy.{Category, Scope}
import winops.terms.RowExpression

/** A column as a text names it.
  *
  * @param row
  *   the text's name for a row, if one precedes the column and a dot
  * @param column
  *   name of the column
  */
final case class ColumnName(row: Option[Token.Named], column: Token.Named)

/** Looks up the columns that a text names. A column that the rows do not have is
  * `unknown-column`.
  *
  * @param scope
  *   gives the names of the columns
  * @param row
  *   the text's name for a row; any other name before a column is `unknown-column` too. None
  *   allows any name.
  */
final class Columns(scope: Scope, row: Option[Token.Named] = None) {
  import Columns._

  private val known = scope.columns.toSet

  def column(name: ColumnName): Either[Problem, RowExpression.Column] =
    problem(name).toLeft(found(name))

  /** Returns all of the columns, or the first problem. */
  def columns(names: Seq[ColumnName]): Either[Problem, Seq[RowExpression.Column]] =
    names.view.flatMap(problem(_)).headOption.toLeft(names.map(found))

  private def found(name: ColumnName): RowExpression.Column =
    RowExpression.Column(name.column.name)(name.column.offset)

  private def problem(name: ColumnName): Option[Problem] = {
    val stranger = for {
      other <- name.row
      own <- row
      if other.name != own.name
    } yield {
      val names = s"${Names.shown(own.name)} before the dot, not ${Names.shown(other.name)}"
      Problem(Category.UnknownColumn, other.offset, s"expected $names")
    }
    stranger.orElse(Option.when(!known(name.column.name))(unknown(name.column)))
  }

  private def unknown(token: Token.Named): Problem = {
    val hint = scope.columns.find(_.equalsIgnoreCase(token.name)) match {
      case Some(column) => s"did you mean ${Names.shown(column)}?"
      case None if scope.columns.isEmpty => "there are none"
      case None =>
        val some = scope.columns.take(ShownColumns).map(Names.shown).mkString(", ")
        s"the columns are $some${if (scope.columns.length > ShownColumns) ", ..." else ""}"
    }
    Problem(
      Category.UnknownColumn,
      token.offset,
      s"expected a column; there is no ${Names.shown(token.name)}: $hint",
      Some(token.name))
  }
}

object Columns {
  private val ShownColumns = 8

  /** Returns the columns if each occurs once; a repeated column is `duplicate-column`. */
  def once(names: Seq[ColumnName]): Either[Problem, Seq[ColumnName]] = {
    val tokens = names.map(_.column)
    val firsts = tokens.groupMapReduce(_.name)(identity)((first, _) => first)
    tokens
      .find(token => firsts(token.name) != token)
      .map { token =>
        Problem(
          Category.DuplicateColumn,
          token.offset,
          s"expected each column at most once; ${Names.shown(token.name)} is repeated")
      }
      .toLeft(names)
  }
}
