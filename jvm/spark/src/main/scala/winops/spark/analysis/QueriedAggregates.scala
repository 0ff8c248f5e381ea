package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern

import winops.spark.expressions.{CommonExpressions, UnqualifiedSql}
import winops.spark.internal.WinopsErrors
import winops.spark.plan.{ColumnsOfInput, Over}
import winops.spark.row.KeyTypes

/** Converts the aggregates of a query over the same table into aggregates of the rows in a
  * window. The query is never run. It only states the aggregates in Spark's own terms.
  */
private[spark] object QueriedAggregates {

  /** The aggregates of `SELECT aggregates FROM table [GROUP BY columns]`.
    *
    * @param query
    *   an analyzed plan
    * @param table
    *   the table whose rows are kept
    * @param stored
    *   the columns of the rows in a window
    */
  def of(query: LogicalPlan, table: LogicalPlan, stored: Seq[Attribute]): Aggregates = bare(
    query) match {
    case Aggregate(by, columns, child, _) =>
      // `bare` has replaced runtime-replaceable expressions in the whole query, so the table
      // needs the same replacement before the two are compared.
      if (!isSame(child, ReplaceExpressions(table))) {
        throw refused(
          "the query reads another table than keep. Write SELECT aggregates FROM the table in " +
            "the TABLE argument of keep")
      }
      val names = by.zipWithIndex.map {
        case (named: NamedExpression, _) => named
        case (other, i) => Alias(other, s"_by_$i")()
      }
      val aggregates =
        Aggregates(names.map(over(_, child, stored)), columns.map(over(_, child, stored)))
      aggregates.columns.foreach(check)
      aggregates
    case other if other.exists(node => node.isInstanceOf[Window] || node.isInstanceOf[Over]) =>
      throw refused(NoOver)
    case other =>
      throw refused(
        s"the query has the operator ${other.nodeName}. Write SELECT aggregates FROM the table " +
          "of keep, with at most a GROUP BY")
  }

  /** Removes aliases, views and projections without effect. Replaces runtime-replaceable and
    * common expressions of an aggregation by their definitions.
    */
  private def bare(query: LogicalPlan): LogicalPlan = query match {
    case SubqueryAlias(_, child) => bare(child)
    case View(_, _, child, _) => bare(child)
    case Project(columns, child) if columns.map(_.exprId) == child.output.map(_.exprId) =>
      bare(child)
    case aggregate: Aggregate =>
      ReplaceExpressions(aggregate).transformExpressionsUp(CommonExpressions.inPlace)
    case other => other
  }

  /** The sort keys of `SELECT * FROM table ORDER BY keys`. */
  def order(query: LogicalPlan, table: LogicalPlan): Seq[SortOrder] = bare(query) match {
    case sort: Sort if isSame(sort.child, table) =>
      sort.order.map(over(_, sort.child, table.output))
    case _ =>
      throw WinopsErrors.argument("VALUE", "order_by", ExpectedOrder)
  }

  /** Expected form of `order_by`, for error messages. */
  val ExpectedOrder: String =
    "TABLE(SELECT * FROM rows ORDER BY keys), where the keys are expressions over columns " +
      "without subqueries and window functions, or ORDER BY (keys) after the TABLE argument"

  /** Rewrites an expression over the columns of `there` to the columns of the same table `here`.
    */
  private def over[A <: Expression](
      expression: A,
      there: LogicalPlan,
      here: Seq[Attribute]): A = {
    val own = there.output.map(_.exprId).zip(here).toMap
    val renamed = expression.transform { case column: Attribute =>
      own.get(column.exprId).fold(column) { known =>
        known.withDataType(column.dataType).withNullability(column.nullable)
      }
    }
    ColumnsOfInput.in(renamed.asInstanceOf[A], here)
  }

  /** Returns true for two plans of one table, of which one may be `SELECT *` from the other. */
  private def isSame(one: LogicalPlan, other: LogicalPlan): Boolean =
    shape(bare(one)) == shape(bare(other))

  /** Operators, expressions and columns of a plan, without expression ids, table aliases and
    * views: equal for two plans of the same query.
    */
  private def shape(plan: LogicalPlan): Seq[(String, Seq[String])] = plan.collect {
    case node if !node.isInstanceOf[SubqueryAlias] && !node.isInstanceOf[View] =>
      val columns = node.output.map(column => s"${column.name} ${column.dataType.sql}")
      (node.nodeName, node.expressions.map(UnqualifiedSql.of) ++ columns)
  }

  private def check(column: NamedExpression): Unit = {
    column.foreach {
      case _: PlanExpression[_] =>
        throw refused("subqueries are not supported. Compute their values before keep")
      case _: WindowExpression => throw refused(NoOver)
      case call: PythonFuncExpression =>
        throw refused(s"${call.name} is a function in Python. Use functions of Spark SQL")
      case aggregate: AggregateExpression =>
        // Functions such as `first` are non-deterministic only because rows have no order
        // elsewhere, so only arguments and filters are checked.
        val arguments = aggregate.aggregateFunction.children ++ aggregate.filter
        if (arguments.exists(!_.deterministic)) throw refused(Undetermined)
        if (aggregate.isDistinct) checkDistinct(aggregate.aggregateFunction.children)
      case _ =>
    }
    val outside = column.transform { case aggregate: AggregateExpression =>
      Literal.create(null, aggregate.dataType)
    }
    if (!outside.deterministic || column.containsPattern(TreePattern.CURRENT_LIKE)) {
      throw refused(Undetermined)
    }
  }

  private def checkDistinct(arguments: Seq[Expression]): Unit =
    arguments.map(_.dataType).filterNot(KeyTypes.acceptDistinct).foreach { dataType =>
      throw refused(
        s"values of type ${dataType.sql} after DISTINCT cannot be compared. Use " +
          KeyTypes.ComparableForms)
    }

  private val NoOver =
    "leave out .over(...), in SQL OVER (...): keep is the window. Write F.avg(\"price\") instead " +
      "of F.avg(\"price\").over(...), and avg(price) in SQL"
  private val Undetermined =
    "an expression is not deterministic. Use expressions that always return the same value for " +
      "the same rows"

  private def refused(reason: String) =
    WinopsErrors.analysis("WINOPS_AGGREGATES", "reason" -> reason)
}
