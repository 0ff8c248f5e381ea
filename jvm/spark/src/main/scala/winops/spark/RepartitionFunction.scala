package winops.spark

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.winops.checkpoint.RepartitionState

import winops.spark.analysis.StateArguments
import winops.spark.internal.WinopsErrors

/** The table function `winops_repartition('checkpoint', 'to', partitions)`. When executed, it
  * writes a new checkpoint with another number of partitions and returns one row per moved
  * operator.
  */
object RepartitionFunction extends (Seq[Expression] => LogicalPlan) {
  val Name = "winops_repartition"

  val Usage: String =
    "_FUNC_('checkpoint', 'to', partitions) - " +
      "Writes a new checkpoint with another number of partitions and returns what was moved."

  override def apply(expressions: Seq[Expression]): LogicalPlan = {
    val arguments = new StateArguments(Seq("checkpoint", "to", "partitions"), expressions)
    val partitions = arguments.whole("partitions", 1).filter(_ <= MaxPartitions).getOrElse {
      throw WinopsErrors.argument(
        "VALUE",
        "partitions",
        s"a whole number from 1 to $MaxPartitions")
    }
    RepartitionState(
      arguments.text("checkpoint", "the folder of a checkpoint"),
      arguments.text("to", "a folder for the new checkpoint"),
      partitions.toInt)
  }

  private val MaxPartitions = 1 << 20
}
