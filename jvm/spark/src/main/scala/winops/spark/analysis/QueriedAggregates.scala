package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern

import winops.spark.expressions.{CommonExpressions, UnqualifiedSql}
import winops.spark.internal.WinopsErrors
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
    */
  def of(query: LogicalPlan, table: LogicalPlan): Aggregates = bare(query) match {
    case Aggregate(by, columns, child, _) =>
      // `bare` has replaced runtime-replaceable expressions in the whole query, so the table
      // needs the same replacement before the two are compared.
      if (!isSame(child, ReplaceExpressions(table))) {
        throw refused("they are over another table than the one whose rows are kept")
      }
      val names = by.zipWithIndex.map {
        case (named: NamedExpression, _) => named
        case (other, i) => Alias(other, s"_by_$i")()
      }
      val aggregates =
        Aggregates(names.map(over(_, child, table)), columns.map(over(_, child, table)))
      aggregates.columns.foreach(check)
      aggregates
    case other if other.exists(_.isInstanceOf[Window]) => throw refused(NoOver)
    case other =>
      throw refused(
        "expected SELECT aggregates FROM the same table, with GROUP BY at most, but the query " +
          s"has the operator ${other.nodeName}")
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
    case sort: Sort if isSame(sort.child, table) => sort.order.map(over(_, sort.child, table))
    case _ =>
      throw WinopsErrors.argument("VALUE", "order_by", ExpectedOrder)
  }

  /** Expected form of `order_by`, for error messages. */
  val ExpectedOrder: String =
    "TABLE(SELECT * FROM rows ORDER BY keys), keys over columns of the rows without subqueries " +
      "and window functions; ORDER BY (keys) behind the TABLE argument of keep says the same"

  /** Rewrites an expression over the columns of `there` to the columns of `here`, which is the
    * same table.
    */
  private def over[A <: Expression](expression: A, there: LogicalPlan, here: LogicalPlan): A = {
    val own = there.output.map(_.exprId).zip(here.output).toMap
    expression
      .transform { case column: Attribute => own.getOrElse(column.exprId, column) }
      .asInstanceOf[A]
  }

  private def isSame(one: LogicalPlan, other: LogicalPlan): Boolean = shape(one) == shape(other)

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
      case _: PlanExpression[_] => throw refused("expected no subquery")
      case _: WindowExpression => throw refused(NoOver)
      case call: PythonFuncExpression =>
        throw refused(s"${call.name} runs in Python, which the operator does not do")
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
        s"expected values after DISTINCT that can be compared, not ${dataType.sql}; " +
          "cast them, for example to STRING with to_json")
    }

  private val NoOver =
    """expected no OVER, because the window is that of keep: write F.avg("price") """ +
      "instead of F.avg(\"price\").over(...), and avg(price) in SQL"
  private val Undetermined = "expected expressions that give the same value again"

  private def refused(reason: String) =
    WinopsErrors.analysis("WINOPS_AGGREGATES", "reason" -> reason)
}
