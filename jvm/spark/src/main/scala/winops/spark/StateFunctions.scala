package winops.spark

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.winops.{HeldRows, RepartitionState}

/** The table function `winops_state('checkpoint', batch => 5, operator => 0)`: the rows that the
  * windows of a query held after a batch.
  */
object StateFunction extends (Seq[Expression] => LogicalPlan) {
  val Name = "winops_state"

  val Usage: String =
    "_FUNC_('checkpoint', batch => n, operator => n) - " +
      "Returns the rows that the windows of a streaming query held after a micro-batch."

  override def apply(expressions: Seq[Expression]): LogicalPlan = {
    val arguments = new StateArguments(Seq("checkpoint", "batch", "operator"), expressions)
    HeldRows(
      arguments.text("checkpoint", "the folder of a checkpoint"),
      arguments.whole("batch", 0),
      arguments.whole("operator", 0))
  }
}

/** The table function `winops_repartition('checkpoint', 'to', partitions)`: writes a new
  * checkpoint with another number of partitions when it is executed, and gives what was moved.
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
