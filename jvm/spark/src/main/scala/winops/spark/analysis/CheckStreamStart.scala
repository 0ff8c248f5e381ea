package winops.spark.analysis

import org.apache.spark.sql.catalyst.plans.logical.{AsOfJoin, LogicalPlan, Window}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.execution.streaming.{AvailableNowTrigger, ContinuousTrigger, RealTimeTrigger}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.OutputMode

import winops.spark.internal.WinopsErrors
import winops.spark.over.{OverSettings, ResolveOver, StreamOperators, Watermarks}
import winops.spark.plan.GroupedOperator

/** Refuses sinks and triggers that a streaming [[GroupedOperator]] does not support, before the
  * query starts.
  *
  * Spark's own checks do not know foreign operators. They run while the statement that starts a
  * query is resolved. This rule runs in the batch of rules before that, so its errors come first.
  */
object CheckStreamStart extends Rule[LogicalPlan] {
  private val Encoding = "unsaferow"

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case start: WriteToStreamStatement =>
        if (start.inputQuery.exists(isOfWinops)) CheckWatermarks.single(start.inputQuery)
        checkWindows(start.inputQuery)
        checkAsOfJoins(start.inputQuery)
      case _ =>
    }
    plan match {
      case start: WriteToStreamStatement => CheckHistory.query(start.inputQuery)
      case _ =>
    }
    plan match {
      case start: WriteToStreamStatement if start.inputQuery.exists(isStreamingOperator) =>
        checkWriter(start, Watermarks.operator(start.inputQuery).get.spec.words.operator)
        checkEncoding()
        checkEnd(start)
        if (isRealTime(start)) CheckRealTime(start)
        CheckWatermarks.references(start.inputQuery)
        CheckWatermarks.needed(start.inputQuery)
      case _ =>
    }
    plan
  }

  /** Refuses output modes and triggers that no operator of winops supports. */
  private def checkWriter(start: WriteToStreamStatement, operator: String): Unit = {
    if (start.trigger.isInstanceOf[ContinuousTrigger]) {
      throw WinopsErrors.analysis("WINOPS_TRIGGER", "operator" -> operator)
    }
    if (start.outputMode != OutputMode.Append && !isRealTime(start)) {
      throw WinopsErrors.analysis(
        "WINOPS_OUTPUT_MODE",
        "operator" -> operator,
        "mode" -> start.outputMode.toString)
    }
  }

  private def isRealTime(start: WriteToStreamStatement): Boolean =
    start.trigger.isInstanceOf[RealTimeTrigger]

  private def isOfWinops(plan: LogicalPlan): Boolean = plan match {
    case window: Window => OverSettings.isEnabled && ResolveOver.isOverStream(window)
    case other => isStreamingOperator(other)
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

  /** Refuses as-of joins that [[ResolveAsOf]] has left to Spark, with the reason. */
  private def checkAsOfJoins(query: LogicalPlan): Unit = if (AsOfSettings.isEnabled) {
    for {
      join <- query.collect { case join: AsOfJoin if ResolveAsOf.isOverStream(join) => join }
      refusal <- ResolveAsOf.refusal(join)
    } throw refusal
  }

  /** Refuses another encoding of the state than Spark's rows, which fails in the first task. */
  private def checkEncoding(): Unit = {
    val encoding = SQLConf.get.stateStoreEncodingFormat
    if (!encoding.equalsIgnoreCase(Encoding)) {
      throw WinopsErrors.analysis(
        "WINOPS_STATE_ENCODING",
        "setting" -> SQLConf.STREAMING_STATE_STORE_ENCODING_FORMAT.key,
        "encoding" -> encoding,
        "expected" -> Encoding)
    }
  }

  /** Refuses `at_end => 'flush'` in a query without an end, or without micro-batches that have no
    * new rows, and above an operator of Spark that holds rows back at the end.
    */
  private def checkEnd(start: WriteToStreamStatement): Unit = for {
    operator <- start.inputQuery.collect {
      case operator: GroupedOperator if operator.isStreaming && operator.spec.flushesAtEnd =>
        operator
    }
    (reason, expected) <-
      if (start.trigger != AvailableNowTrigger) {
        val query =
          if (isRealTime(start)) "a query in real-time mode" else "a query with this trigger"
        Some(s"$query does not end" -> "Start it with trigger(availableNow=True)")
      } else if (!SQLConf.get.streamingNoDataMicroBatchesEnabled) {
        Some(
          "the query runs no micro-batch without new rows" ->
            s"Set ${SQLConf.STREAMING_NO_DATA_MICRO_BATCHES_ENABLED.key} to true")
      } else {
        StreamOperators.holdingBack(operator.child).map { below =>
          s"$below below ${operator.spec.words.operator} can emit rows after the end" ->
            s"Write the rows of $below to a table, and read the table in a query of its own"
        }
      }
  } throw WinopsErrors.analysis(
    "WINOPS_AT_END",
    "argument" -> operator.spec.words.flush,
    "without" -> operator.spec.words.noFlush,
    "reason" -> reason,
    "expected" -> expected)

  /** Returns true for an operator over a stream. A `keep` over a table is executed anew in each
    * micro-batch, so it works with every sink and trigger.
    */
  private def isStreamingOperator(plan: LogicalPlan): Boolean =
    plan.isInstanceOf[GroupedOperator] && plan.isStreaming
}
