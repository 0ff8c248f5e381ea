package winops.spark

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** Replaces a table function on a Spark version that the JAR does not support: every call fails.
  */
final class RefusedFunction(error: => SparkVersionException)
    extends (Seq[Expression] => LogicalPlan) {
  override def apply(arguments: Seq[Expression]): LogicalPlan = throw error
}
