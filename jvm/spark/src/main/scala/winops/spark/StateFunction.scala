package winops.spark

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.winops.checkpoint.StateRelation

import winops.spark.analysis.StateArguments

/** The table function `winops_state('checkpoint', batch => 5, operator => 0)`. Returns the rows
  * that the windows of a query held after a micro-batch.
  */
object StateFunction extends (Seq[Expression] => LogicalPlan) {
  val Name = "winops_state"

  val Usage: String =
    "_FUNC_('checkpoint', batch => n, operator => n) - " +
      "Returns the rows that the windows of a streaming query held after a micro-batch."

  override def apply(expressions: Seq[Expression]): LogicalPlan = {
    val arguments = new StateArguments(Seq("checkpoint", "batch", "operator"), expressions)
    StateRelation(
      arguments.text("checkpoint", "the folder of a checkpoint"),
      arguments.whole("batch", 0),
      arguments.whole("operator", 0))
  }
}
