package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.analysis.StreamingJoinHelper
import org.apache.spark.sql.catalyst.plans.{FullOuter, LeftOuter, LeftSemi, RightOuter}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{GroupStateTimeout, TimeMode}

import winops.spark.internal.WinopsErrors
import winops.spark.over.{ResolveOver, StreamOperators, Watermarks}
import winops.spark.plan.{GroupedOperator, Keep, Over}

/** Refuses streaming queries with a [[GroupedOperator]] in which a stateful operator cannot have
  * the watermark that it needs.
  */
private[analysis] object CheckWatermarks {

  /** Refuses a second call of `withWatermark`. Spark refuses it too, but only when the watermark
    * moves. The watermark of the query is the least of all calls, and rows that wait for it never
    * reach the second call, so it would never move.
    */
  def single(query: LogicalPlan): Unit = for {
    second <- query.collectFirst {
      case call: EventTimeWatermark if Watermarks.isDefinedIn(call.child) && isRefused(call) =>
        call
    }
  } {
    val (rows, column) = (second.child, second.eventTime.name)
    throw WinopsErrors.analysis(
      "WINOPS_WATERMARK_REDEFINED",
      "column" -> column,
      "expected" -> Watermarks.carrier(rows).fold(Watermarks.adviceIfLost(rows)) { carrier =>
        s"Remove this call. ${Watermarks.adviceOf(carrier, "use it")}"
      })
  }

  private def isRefused(call: EventTimeWatermark): Boolean =
    Watermarks.operator(call.child).isDefined ||
      SQLConf.get.getConf(SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE)

  /** Refuses a stateful operator over a reference to the time column of a keep's input, as
    * `rows["ts"]` is. The column has the same id in the output of the keep, where it has lost the
    * watermark. With the watermark of the reference, the operator would drop rows as late.
    */
  def references(query: LogicalPlan): Unit = for {
    stateful <- query.collect { case node if StreamOperators.haveState(node) => node }
    node <- stateful.collect { case node if !node.isInstanceOf[Filter] => node }
    column <- ResolveOver.lostWatermarks(node).headOption
  } throw WinopsErrors.analysis(
    "WINOPS_WATERMARK_REFERENCE",
    "operator" -> Watermarks.operator(node).fold("the operator")(_.spec.words.operator),
    "column" -> column.name)

  /** Refuses an operator of Spark that needs a column with a watermark and has none, if it is
    * over a `keep` or OVER whose input has one. Spark refuses such a query too, but reports only
    * that there is no watermark.
    */
  def needed(query: LogicalPlan): Unit = for {
    (operator, input) <- query.collectFirst(withoutWatermark)
    below <- input.collectFirst {
      case below: GroupedOperator if below.isStreaming && below.time.exists(Watermarks.isOn) =>
        below
    }
    time <- below.time
  } throw ((Watermarks.carrier(below), below) match {
    case (Some(carrier), _) =>
      WinopsErrors.analysis(
        "WINOPS_WATERMARK_COLUMN",
        "operator" -> subject(operator),
        "below" -> nameOf(below, time),
        "carrier" -> carrier.name,
        "expected" ->
          (if (operator == Aggregation) s"group by it, or by window('${carrier.name}', ...)"
           else "select it too"))
    case (None, _: Over) =>
      WinopsErrors.analysis(
        "WINOPS_WATERMARK_LOST",
        "operator" -> subject(operator),
        "reason" ->
          (s"The rows of lead or FOLLOWING wait for the rows behind them, so their ${time.name} " +
            "can be before the watermark"),
        "expected" ->
          s"Put $operator before lead or FOLLOWING, or ${Watermarks.InAnotherQuery}")
    case (None, keep: Keep) if keep.spec.lookup.isDefined =>
      WinopsErrors.analysis(
        "WINOPS_WATERMARK_LOST",
        "operator" -> subject(operator),
        "reason" ->
          (if (keep.spec.emitsRefused)
             "Late rows that look up are emitted too, so their time can be before the watermark"
           else
             "The rows of the as-of join wait for the tolerance, so their time can be before the " +
               "watermark"),
        "expected" -> Watermarks.adviceIfLost(below))
    case (None, _) =>
      WinopsErrors.analysis(
        "WINOPS_WATERMARK_LOST",
        "operator" -> subject(operator),
        "reason" ->
          ("The window inserts several rows at once, so the rows of withColumns can have a " +
            s"${time.name} before the watermark"),
        "expected" ->
          (s"Use the rows of inserts() and their column ${Keep.ChangeTime}, in an aggregation " +
            s"window('${Keep.ChangeTime}', ...)"))
  })

  private val Aggregation = "the aggregation"

  /** The name of an operator at the beginning of a sentence. */
  private def subject(operator: String): String =
    if (operator.startsWith("the ")) operator.capitalize else operator

  private def nameOf(operator: GroupedOperator, time: Attribute): String = operator match {
    case _: Over => s"OVER (... ORDER BY ${time.name} ...)"
    case keep: Keep if keep.spec.lookup.exists(_.ofJoin) => "the as-of join"
    case keep: Keep if keep.spec.lookup.isDefined =>
      s"lookup(..., time='${keep.spec.lookup.flatMap(_.time).getOrElse(time.name)}')"
    case _ => s"keep(..., time='${time.name}')"
  }

  /** The name and the input of an operator that needs a column with a watermark and has none. */
  private val withoutWatermark: PartialFunction[LogicalPlan, (String, LogicalPlan)] = {
    case aggregate: Aggregate
        if aggregate.isStreaming && !aggregate.groupingExpressions.exists(Watermarks.isOn) =>
      Aggregation -> aggregate.child
    case distinct: DeduplicateWithinWatermark
        if distinct.isStreaming && Watermarks.carrier(distinct.child).isEmpty =>
      "dropDuplicatesWithinWatermark" -> distinct.child
    case join: Join
        if join.left.isStreaming && join.right.isStreaming &&
          !StreamingJoinHelper.isWatermarkInJoinKeys(join) && bounded(join).exists(isLost) =>
      s"the ${join.joinType.sql} JOIN" -> bounded(join).find(isLost).get
    case groups: FlatMapGroupsWithState
        if groups.timeout == GroupStateTimeout.EventTimeTimeout && isLost(groups.child) =>
      "flatMapGroupsWithState" -> groups.child
    case groups: FlatMapGroupsInPandasWithState
        if groups.timeout == GroupStateTimeout.EventTimeTimeout && isLost(groups.child) =>
      "applyInPandasWithState" -> groups.child
    case groups: TransformWithState
        if groups.timeMode == TimeMode.EventTime() && isLost(groups.child) =>
      "transformWithState" -> groups.child
  }

  /** The sides of a join that need a watermark because rows of the other side wait for them. */
  private def bounded(join: Join): Seq[LogicalPlan] = join.joinType match {
    case LeftOuter | LeftSemi => Seq(join.right)
    case RightOuter => Seq(join.left)
    case FullOuter => Seq(join.left, join.right)
    case _ => Nil
  }

  private def isLost(rows: LogicalPlan): Boolean = Watermarks.carrier(rows).isEmpty
}
