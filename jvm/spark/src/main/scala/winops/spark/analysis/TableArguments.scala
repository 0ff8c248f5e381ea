package winops.spark.analysis

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Expression, FunctionTableSubqueryArgumentExpression, NamedArgumentExpression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import winops.spark.internal.WinopsErrors

/** The arguments of a table function over two tables or streams.
  *
  * @param named
  *   the other arguments, by their names in lower case
  */
private[spark] final case class TableArguments(
    first: LogicalPlan,
    second: LogicalPlan,
    named: Map[String, Expression])

private[spark] object TableArguments {

  /** Reads the arguments of a call, two tables first.
    *
    * @param first
    *   the name of the first table in errors
    * @param second
    *   the name of the second table in errors
    * @param names
    *   the names of the other arguments
    * @param withoutOrder
    *   what to write instead of PARTITION BY and ORDER BY
    */
  def of(
      arguments: Seq[Expression],
      first: String,
      second: String,
      names: Seq[String],
      withoutOrder: String = ""): TableArguments = {
    val (tables, others) = arguments.span(_.isInstanceOf[FunctionTableSubqueryArgumentExpression])
    val named = others.map {
      case NamedArgumentExpression(name, value) if names.contains(lower(name)) =>
        lower(name) -> value
      case NamedArgumentExpression(name, _) =>
        throw WinopsErrors.argument("UNKNOWN", name, names.mkString("one of ", ", ", ""))
      case other =>
        throw WinopsErrors.argument(
          "UNKNOWN",
          other.sql,
          s"TABLE($first), TABLE($second), and then named arguments")
    }
    named.groupBy(_._1).foreach { case (name, given) =>
      if (given.size > 1) throw WinopsErrors.argument("DUPLICATE", name, "each argument once")
    }
    tables match {
      case Seq(one, other) =>
        TableArguments(
          planOf(s"TABLE($first)", one, s"TABLE($first)", withoutOrder),
          planOf(s"TABLE($second)", other, s"TABLE($second)", withoutOrder),
          named.toMap)
      case _ =>
        throw WinopsErrors.argument(
          "MISSING",
          "table",
          s"TABLE($first) and TABLE($second) as the first two arguments")
    }
  }

  /** The plan of a table that an argument passes whole. PARTITION BY and ORDER BY would have no
    * effect, so they are refused.
    *
    * @param expected
    *   what the argument may be
    * @param withoutOrder
    *   what to write instead of PARTITION BY and ORDER BY
    */
  def planOf(
      name: String,
      argument: Expression,
      expected: String,
      withoutOrder: String = ""): LogicalPlan = argument match {
    case table: FunctionTableSubqueryArgumentExpression
        if table.hasRepartitioning || table.orderByExpressions.nonEmpty =>
      throw WinopsErrors.argument(
        "VALUE",
        name,
        s"$expected without PARTITION BY, ORDER BY and WITH SINGLE PARTITION$withoutOrder")
    case table: FunctionTableSubqueryArgumentExpression => table.plan
    case _ => throw WinopsErrors.argument("VALUE", name, expected)
  }

  private def lower(name: String): String = name.toLowerCase(Locale.ROOT)
}
