package winops.spark

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.winops.checkpoint.ForgetGroups

import winops.spark.analysis.StateArguments

/** The table function `winops_forget('checkpoint', 'to', 'condition', operator => 0)`. When
  * executed, it writes a new checkpoint without the groups of a condition and returns one row per
  * operator.
  */
object ForgetFunction extends (Seq[Expression] => LogicalPlan) {
  val Name = "winops_forget"

  val Usage: String =
    "_FUNC_('checkpoint', 'to', 'where', operator => n) - " +
      "Writes a new checkpoint without the groups of a condition and returns what was removed."

  override def apply(expressions: Seq[Expression]): LogicalPlan = {
    val arguments = new StateArguments(Seq("checkpoint", "to", "where", "operator"), expressions)
    ForgetGroups(
      arguments.text("checkpoint", "the folder of a checkpoint"),
      arguments.text("to", "a folder for the new checkpoint"),
      arguments.text("where", "a condition over the columns of the group key"),
      arguments.whole("operator", 0))
  }
}
