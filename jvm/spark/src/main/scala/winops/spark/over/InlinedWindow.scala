package winops.spark.over

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Window}

/** Puts the arguments of window functions back into the functions.
  *
  * Spark's analyzer computes them below the [[Window]] as columns `_w0`, `_w1` and so on. State
  * with these columns would say nothing about what they mean, and rows would be stored with them.
  */
private[spark] object InlinedWindow {

  /** Returns the window with its arguments, the plan that its expressions are over, and a function
    * that gives a plan over it the columns of the window.
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
        val below = Project(rest ++ child.output.filter(missing.contains), child)
        (inlined, below, withColumns(window, made, _))
      case other => (window, other, withColumns(window, Nil, _))
    }

  private def isMade(alias: Alias): Boolean =
    alias.name.matches("_w\\d+") && alias.deterministic

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
