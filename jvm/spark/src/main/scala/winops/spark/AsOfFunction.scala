package winops.spark

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import winops.spark.analysis.AsOfArguments

/** The table function `asof_join`, which joins each row with the nearest row of another table or
  * stream in time.
  */
object AsOfFunction extends (Seq[Expression] => LogicalPlan) {
  val Name = "asof_join"

  /** The text of DESCRIBE FUNCTION; Spark replaces `_FUNC_` by the name of the function. */
  val Usage: String =
    "_FUNC_(TABLE(left), TABLE(right), left_on => 'ts', right_on => 'ts', left_by => ARRAY('k'), " +
      "right_by => ARRAY('k'), direction => 'backward', tolerance => INTERVAL 5 SECONDS, " +
      "allow_exact_matches => true, how => 'left', suffixes => ARRAY('_x', '_y'), " +
      "idle => '7 days', max_rows => 10000000, at_end => 'wait', late => 'drop') - Returns each " +
      "row of the left side with the row of the right side that is the nearest in time. on and " +
      "by name columns of both sides. idle, max_rows, at_end and late are those of keep."

  override def apply(arguments: Seq[Expression]): LogicalPlan = AsOfArguments.of(arguments)
}
