package winops.spark

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import winops.spark.analysis.HistoryArguments

/** The table function `with_history`, which puts the rows of a table before those of a stream. */
object HistoryFunction extends (Seq[Expression] => LogicalPlan) {
  val Name = "with_history"

  /** The text of DESCRIBE FUNCTION; Spark replaces `_FUNC_` by the name of the function. */
  val Usage: String =
    "_FUNC_(TABLE(stream), TABLE(history), emit => 'none', until => TIMESTAMP'...') - " +
      "Returns the rows of the stream. A keep or window functions over them start with the state " +
      "that the rows of the table lead to. emit => 'all' returns their changes too, until names " +
      "the time before which rows of the table are read."

  override def apply(arguments: Seq[Expression]): LogicalPlan = HistoryArguments.of(arguments)
}
