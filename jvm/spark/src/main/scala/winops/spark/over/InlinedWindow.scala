package winops.spark.over

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Window}

import winops.spark.plan.Over
import winops.spark.source.{StoredColumns, WithHistory}

/** Puts the arguments of window functions back into the functions.
  *
  * Spark's analyzer computes them below the [[Window]] as columns `_w0`, `_w1` and so on. State
  * with these columns would say nothing about what they mean, and rows would be stored with them.
  */
private[spark] object InlinedWindow {

  /** Returns the window with its arguments, the plan that its expressions are over, and a
    * function that gives a plan over it the columns of the window.
    */
  def of(window: Window): (Window, LogicalPlan, LogicalPlan => LogicalPlan) =
    window.child match {
      case Project(columns, child) =>
        val made = columns.collect { case alias: Alias if isMade(alias) => alias }
        val meanings = made.map(alias => alias.exprId -> alias.child).toMap
        val inlined = window.copy(
          windowExpressions =
            window.windowExpressions.map(in(_, meanings).asInstanceOf[NamedExpression]),
          partitionSpec = window.partitionSpec.map(in(_, meanings)),
          orderSpec = window.orderSpec.map(in(_, meanings).asInstanceOf[SortOrder]))
        val rest = columns.filterNot(made.contains)
        val missing = AttributeSet(made.map(_.child)) -- AttributeSet(rest.map(_.toAttribute))
        val below = Project(inOrder(rest, missing, child), child)
        (inlined, below, withColumns(window, made, _))
      case other => (window, other, withColumns(window, Nil, _))
    }

  /** The columns in the order of `child`, then computed ones by name. In the analyzer's project,
    * their order depends on the order of the functions, which state shall not depend on.
    */
  private def inOrder(
      columns: Seq[NamedExpression],
      missing: AttributeSet,
      child: LogicalPlan): Seq[NamedExpression] = {
    val (computed, plain) = columns.partition(_.isInstanceOf[Alias])
    val known = AttributeSet(plain.map(_.toAttribute))
    val own = child.output.filter(column => known.contains(column) || missing.contains(column))
    val others = plain.filterNot(column => child.outputSet.contains(column.toAttribute))
    own ++ others ++ computed.sortBy(_.name)
  }

  /** The arguments of the window that stay below, because they have another value in each
    * evaluation. A column of the query can have the name of an argument, but the window does not
    * refer to that column.
    */
  def undetermined(window: Window, child: LogicalPlan): Seq[Expression] =
    arguments(child).collect {
      case alias: Alias
          if isArgument(alias) && !isMade(alias) && window.references.contains(
            alias.toAttribute) =>
        alias.child
    }

  /** The columns of the analyzer's project below the windows of one query. A window of the query
    * may be an operator already, under its own project and that of [[withColumns]].
    */
  private def arguments(plan: LogicalPlan): Seq[NamedExpression] = plan match {
    case window: Window => arguments(window.child)
    case Project(_, Project(_, over: Over)) => inputOf(over.child)
    case Project(columns, _) => columns
    case _ => Nil
  }

  @tailrec private def inputOf(rows: LogicalPlan): Seq[NamedExpression] = rows match {
    case StoredColumns(child) => inputOf(child)
    case table: WithHistory => inputOf(table.stream)
    case Project(columns, below @ Project(_, Project(_, _: Over))) => columns ++ arguments(below)
    case Project(columns, _) => columns
    case _ => Nil
  }

  private def isMade(alias: Alias): Boolean = isArgument(alias) && alias.deterministic

  private def isArgument(alias: Alias): Boolean = alias.name.matches("_w\\d+")

  private def in(expression: Expression, meanings: Map[ExprId, Expression]): Expression =
    expression.transform {
      case column: Attribute if meanings.contains(column.exprId) => meanings(column.exprId)
    }

  private def withColumns(window: Window, made: Seq[Alias], plan: LogicalPlan): LogicalPlan =
    Project(
      window.output.map { column =>
        made.find(_.exprId == column.exprId).getOrElse {
          plan.output.find(_.exprId == column.exprId).getOrElse(column)
        }
      },
      plan)
}
