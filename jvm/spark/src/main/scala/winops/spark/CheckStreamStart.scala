package winops.spark

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.execution.streaming.{ContinuousTrigger, RealTimeTrigger}
import org.apache.spark.sql.streaming.OutputMode

/** Refuses, before a query starts, what its sink and trigger ask of a [[Keep]] that it cannot do.
  *
  * Spark's own checks know no foreign operator. They run while the statement that starts a query
  * is resolved; this rule runs in the batch before.
  */
object CheckStreamStart extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case start: WriteToStreamStatement if start.inputQuery.exists(_.isInstanceOf[Keep]) =>
        if (start.outputMode != OutputMode.Append) {
          throw WinopsErrors.analysis("WINOPS_OUTPUT_MODE", "mode" -> start.outputMode.toString)
        }
        start.trigger match {
          case _: ContinuousTrigger | _: RealTimeTrigger =>
            throw WinopsErrors.analysis("WINOPS_TRIGGER")
          case _ =>
        }
      case _ =>
    }
    plan
  }
}
