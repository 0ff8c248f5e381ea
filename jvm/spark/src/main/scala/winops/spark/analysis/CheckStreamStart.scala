package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.execution.streaming.{AvailableNowTrigger, ContinuousTrigger, RealTimeTrigger}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.OutputMode

import winops.spark.internal.WinopsErrors
import winops.spark.plan.Keep

/** Refuses, before a query starts, what its sink and trigger ask of a [[Keep]] that it cannot do.
  *
  * Spark's own checks know no foreign operator. They run while the statement that starts a query
  * is resolved; this rule runs in the batch before.
  */
object CheckStreamStart extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case start: WriteToStreamStatement if start.inputQuery.exists(isStreamingKeep) =>
        if (start.outputMode != OutputMode.Append) {
          throw WinopsErrors.analysis("WINOPS_OUTPUT_MODE", "mode" -> start.outputMode.toString)
        }
        start.trigger match {
          case _: ContinuousTrigger | _: RealTimeTrigger =>
            throw WinopsErrors.analysis("WINOPS_TRIGGER")
          case _ =>
        }
        checkEnd(start)
        checkWatermark(start.inputQuery)
      case _ =>
    }
    plan
  }

  /** Rows can be applied at the end of the input only by a query that knows of one. */
  private def checkEnd(start: WriteToStreamStatement): Unit = {
    val flushes = start.inputQuery.exists {
      case keep: Keep => keep.isStreaming && keep.spec.flushesAtEnd
      case _ => false
    }
    if (flushes && start.trigger != AvailableNowTrigger) {
      throw WinopsErrors.analysis(
        "WINOPS_AT_END",
        "reason" -> "the query has another trigger, and so no end",
        "expected" -> "Start it with trigger(availableNow=True)")
    }
    if (flushes && !SQLConf.get.streamingNoDataMicroBatchesEnabled) {
      throw WinopsErrors.analysis(
        "WINOPS_AT_END",
        "reason" -> "the query runs no micro-batch without new rows",
        "expected" ->
          s"Set ${SQLConf.STREAMING_NO_DATA_MICRO_BATCHES_ENABLED.key} to true")
    }
  }

  /** A `keep` over a table runs anew in each micro-batch, so the sink and the trigger do not
    * matter to it.
    */
  private def isStreamingKeep(plan: LogicalPlan): Boolean =
    plan.isInstanceOf[Keep] && plan.isStreaming

  /** Refuses what Spark refuses, too, but would call an aggregation without a watermark: there is
    * one, on another column.
    */
  private def checkWatermark(query: LogicalPlan): Unit = for {
    aggregate <- query.collectFirst { case a: Aggregate if a.isStreaming => a }
    if !aggregate.groupingExpressions.exists(hasWatermark)
    time <- aggregate.collectFirst {
      case keep: Keep if keep.isStreaming && keep.time.exists(hasWatermark) => keep.time.get
    }
  } throw WinopsErrors.analysis(
    "WINOPS_WATERMARK_COLUMN",
    "time" -> time.name,
    "carrier" -> Keep.ChangeTime)

  private def hasWatermark(expression: Expression): Boolean = expression match {
    case column: Attribute => column.metadata.contains(EventTimeWatermark.delayKey)
    case _ => false
  }
}
