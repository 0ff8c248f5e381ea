package winops.spark.analysis

import java.util.Locale

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.sql.winops.internal.Catalyst

import winops.spark.expressions.LosslessCast
import winops.spark.internal.WinopsErrors
import winops.spark.source.{StoredColumns, WithHistory}

/** Resolves a call of the table function `with_history`. */
private[spark] object HistoryArguments {
  private val Names = Seq("emit", "until")
  private val EmitsNothing = "none"
  private val EmitsAll = "all"

  /** The plan of a call with these arguments. */
  def of(arguments: Seq[Expression]): LogicalPlan = {
    val TableArguments(stream, history, named) =
      TableArguments.of(arguments, "stream", "history", Names)
    of(
      stream,
      history,
      emits(named.get("emit")),
      named.get("until"),
      nameOfTable = "The second argument of with_history")
  }

  /** Puts the rows of a table before those of a stream, or of another table.
    *
    * @param emits
    *   true if the rows of the table have output
    * @param until
    *   the time before which rows of the table are read
    * @param nameOfUntil
    *   the name of that argument
    * @param nameOfTable
    *   the name of the argument with the table
    */
  def of(
      stream: LogicalPlan,
      history: LogicalPlan,
      emits: Boolean,
      until: Option[Expression],
      nameOfUntil: String = "until",
      nameOfTable: String = "history"): LogicalPlan = {
    if (history.isStreaming) {
      throw WinopsErrors.argument(
        "VALUE",
        nameOfTable,
        "a table, as rows of a stream have no end; give the stream as the first argument")
    }
    if (!stream.isStreaming) throw notStreaming
    val columns = stream.output.map(column => column -> ofTable(history, column))
    // Expressions over the rows are compiled for the declared nullability.
    val input =
      if (columns.exists { case (column, own) => mayHaveMoreNulls(own, column) })
        StoredColumns.of(stream)
      else stream
    val rows = input.output.zip(columns).map { case (column, (_, own)) =>
      val value = if (own.dataType == column.dataType) own else Cast(own, column.dataType)
      Alias(value, column.name)()
    }
    WithHistory(input, Project(rows, history), emits, until.map(instant(_, nameOfUntil)))
  }

  /** Returns true if rows of the table have output, as an argument says. */
  def emits(argument: Option[Expression], name: String = "emit"): Boolean = argument.exists {
    expression =>
      lower(Arguments.textOf(name, expression)) match {
        case EmitsNothing => false
        case EmitsAll => true
        case _ =>
          throw WinopsErrors.argument("VALUE", name, s"'$EmitsNothing' or '$EmitsAll'")
      }
  }

  private def notStreaming: AnalysisException =
    WinopsErrors.analysis(
      "WINOPS_HISTORY_PLACE",
      "reason" -> "the first argument of with_history is a table and no stream",
      "expected" -> "Over tables, give keep the union of both: history.unionByName(table)")

  /** Returns true if a column of the table may be NULL, or have NULLs in it, where that of the
    * stream may not.
    */
  private def mayHaveMoreNulls(own: Attribute, column: Attribute): Boolean =
    own.nullable && !column.nullable ||
      own.dataType != column.dataType && Catalyst.asNullable(column.dataType) != column.dataType

  /** The column of the table with the name of a column of the stream, whose values the type of
    * the stream has.
    */
  private def ofTable(history: LogicalPlan, column: Attribute): Attribute =
    history.output.filter(own => SQLConf.get.resolver(own.name, column.name)) match {
      case Seq(own) if LosslessCast.isPossible(own.dataType, column.dataType) => own
      case Seq(own) if !LosslessCast.hasSameFields(own.dataType, column.dataType) =>
        throw columnError(
          column,
          s"the table has it as ${own.dataType.sql}, whose fields have other names or another order",
          "Build its structs in the table anew, with the names and in the order of the stream's " +
            "fields, as named_struct does")
      case Seq(own) =>
        throw columnError(
          column,
          s"the table has it as ${own.dataType.sql}, of which some values are lost in the stream's type",
          s"Cast the column of the table to ${column.dataType.sql}, or that of the stream to a wider type")
      case Seq() =>
        throw columnError(
          column,
          s"the table has no such column; its columns are ${history.output.map(_.name).mkString(", ")}",
          s"Add the column to the table, with NULL where its value is not known")
      case _ =>
        throw columnError(
          column,
          "the table has several columns of this name",
          "Select one of them")
    }

  private def columnError(column: Attribute, reason: String, expected: String) =
    WinopsErrors.analysis(
      "WINOPS_HISTORY_COLUMN",
      "column" -> column.name,
      "type" -> column.dataType.sql,
      "reason" -> reason,
      "expected" -> expected)

  private def instant(expression: Expression, name: String): Literal = {
    def refused = WinopsErrors.argument(
      "VALUE",
      name,
      "a constant timestamp, such as TIMESTAMP'2026-01-01 00:00:00'")
    if (!expression.foldable) throw refused
    val cast = expression.dataType match {
      case TimestampType | TimestampNTZType => expression
      case DateType | _: StringType =>
        Cast(expression, TimestampType, Some(SQLConf.get.sessionLocalTimeZone), EvalMode.TRY)
      case _ => throw refused
    }
    Option(cast.eval()).map(Literal(_, cast.dataType)).getOrElse(throw refused)
  }

  private def lower(name: String): String = name.toLowerCase(Locale.ROOT)
}
