package winops.spark

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import winops.spark.analysis.{Arguments, UnresolvedKeep}

/** The table function `keep`, the entry point of SQL, classic PySpark and Spark Connect. */
object KeepFunction extends (Seq[Expression] => LogicalPlan) {
  val Name = "keep"

  /** The text of DESCRIBE FUNCTION; Spark replaces `_FUNC_` by the name of the function. */
  def usage: String =
    "_FUNC_(TABLE(t) PARTITION BY (group) ORDER BY (order), policy, name => value, ...) - " +
      "Returns the rows that enter and leave a retention window, one for each change. " +
      s"The names are ${Arguments.Names.mkString(", ")}."

  val Examples: String =
    """
    Examples:
      > SELECT * FROM _FUNC_(TABLE(trades) PARTITION BY (symbol) ORDER BY (seq), 'KEEP 100 ROWS');
      > SELECT * FROM _FUNC_(TABLE(trades) PARTITION BY (venue) ORDER BY (seq), esper => '#length(10)#unique(symbol)');
  """

  override def apply(arguments: Seq[Expression]): LogicalPlan = UnresolvedKeep.of(arguments)
}
