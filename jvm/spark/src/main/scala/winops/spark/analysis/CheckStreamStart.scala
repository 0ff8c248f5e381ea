package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, EventTimeWatermark, Filter, LogicalPlan, Window}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.execution.streaming.{AvailableNowTrigger, ContinuousTrigger, RealTimeTrigger}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.OutputMode

import winops.spark.internal.WinopsErrors
import winops.spark.over.{OverSettings, ResolveOver, StreamOperators}
import winops.spark.plan.Keep

/** Refuses sinks and triggers that a streaming [[Keep]] does not support, before the query
  * starts.
  *
  * Spark's own checks do not know foreign operators. They run while the statement that starts a
  * query is resolved. This rule runs in the batch of rules before that, so its errors come first.
  */
object CheckStreamStart extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case start: WriteToStreamStatement => checkWindows(start.inputQuery)
      case _ =>
    }
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
        checkReferences(start.inputQuery)
        checkWatermark(start.inputQuery)
      case _ =>
    }
    plan
  }

  /** Refuses window functions that [[ResolveOver]] has left to Spark, with the reason. Spark only
    * reports that they are not supported on a stream.
    */
  private def checkWindows(query: LogicalPlan): Unit = if (OverSettings.isEnabled) {
    for {
      window <- query.collect {
        case window: Window if ResolveOver.isOverStream(window) => window
      }
      refusal <- ResolveOver.refusal(window, query)
    } throw refusal.error
  }

  /** Refuses `at_end => 'flush'` in a query without an end, or without micro-batches that have no
    * new rows.
    */
  private def checkEnd(start: WriteToStreamStatement): Unit = {
    val flushes = start.inputQuery.exists {
      case keep: Keep => keep.isStreaming && keep.spec.flushesAtEnd
      case _ => false
    }
    if (flushes && start.trigger != AvailableNowTrigger) {
      throw WinopsErrors.analysis(
        "WINOPS_AT_END",
        "reason" -> "a query with this trigger does not end",
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

  /** Returns true for a `keep` over a stream. A `keep` over a table is executed anew in each
    * micro-batch, so it works with every sink and trigger.
    */
  private def isStreamingKeep(plan: LogicalPlan): Boolean =
    plan.isInstanceOf[Keep] && plan.isStreaming

  /** Refuses a stateful operator over a reference to the time column of a keep's input, as
    * `rows["ts"]` is. The column has the same id in the output of the keep, where it has lost the
    * watermark. With the watermark of the reference, the operator would drop rows as late.
    */
  private def checkReferences(query: LogicalPlan): Unit = for {
    stateful <- query.collect { case node if StreamOperators.haveState(node) => node }
    node <- stateful.collect { case node if !node.isInstanceOf[Filter] => node }
    column <- ResolveOver.lostWatermarks(node).headOption
  } throw WinopsErrors.analysis("WINOPS_WATERMARK_REFERENCE", "column" -> column.name)

  /** Refuses a streaming aggregation that does not group by a column with a watermark, if the
    * watermark of its input is on the time column of a `keep`. Spark refuses such a query too,
    * but reports that the aggregation has no watermark.
    */
  private def checkWatermark(query: LogicalPlan): Unit = for {
    aggregate <- query.collectFirst { case a: Aggregate if a.isStreaming => a }
    if !aggregate.groupingExpressions.exists(hasWatermark)
    keep <- aggregate.collectFirst {
      case keep: Keep if keep.isStreaming && keep.time.exists(hasWatermark) => keep
    }
    time <- keep.time
  } throw (keep.output.find(hasWatermark) match {
    case Some(carrier) =>
      WinopsErrors.analysis(
        "WINOPS_WATERMARK_COLUMN",
        "time" -> time.name,
        "carrier" -> carrier.name)
    case None =>
      WinopsErrors.analysis(
        "WINOPS_WATERMARK_LOST",
        "time" -> time.name,
        "carrier" -> Keep.ChangeTime)
  })

  private def hasWatermark(expression: Expression): Boolean = expression match {
    case column: Attribute => column.metadata.contains(EventTimeWatermark.delayKey)
    case _ => false
  }
}
