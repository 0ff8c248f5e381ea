package winops.spark

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** Stands for a table function on a Spark version that the JAR is not for: every call fails. */
final class RefusedFunction(error: => SparkVersionException)
    extends (Seq[Expression] => LogicalPlan) {
  override def apply(arguments: Seq[Expression]): LogicalPlan = throw error
}
