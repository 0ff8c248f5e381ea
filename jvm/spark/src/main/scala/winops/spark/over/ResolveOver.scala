package winops.spark.over

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern

import winops.spark.plan.{Application, ColumnsOfInput, FramedFunction, GroupedOperator, InSourceOrder, Over, OverSpec}
import winops.spark.source.StoredColumns

/** Replaces Spark's [[Window]] over a stream by an [[Over]]. A node that the operator cannot run
  * stays, and is refused when the stream starts.
  *
  * The rule runs after the resolution, when the nodes are final. Nodes with the same PARTITION BY
  * and ORDER BY become one operator.
  */
object ResolveOver extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.containsPattern(TreePattern.WINDOW) || !OverSettings.isEnabled) plan
    else {
      val definitions = definitionsIn(plan)
      val resolved = plan.resolveOperatorsUpWithPruning(_.containsPattern(TreePattern.WINDOW)) {
        case window: Window if isOverStream(window) =>
          val (inlined, child, above) = InlinedWindow.of(window)
          OverForm.of(inlined, child, definitions) match {
            case Left(_) => window
            case Right(call) => above(MergedOver.of(call).getOrElse(single(call, definitions)))
          }
        case node => withWatermarksOfInput(node)
      }
      if ((resolved eq plan) || definitions.isEmpty) resolved
      else InSourceOrder.withoutUnused(resolved)
    }

  /** The reason why the operator cannot run a node that [[apply]] has left. */
  def refusal(window: Window, plan: LogicalPlan): Option[OverRefusal] = {
    val (inlined, child, _) = InlinedWindow.of(window)
    OverForm.of(inlined, child, definitionsIn(plan)).left.toOption
  }

  def isOverStream(window: Window): Boolean = window.resolved && window.child.isStreaming

  private def definitionsIn(plan: LogicalPlan): Map[Long, CTERelationDef] =
    plan.collect { case definition: CTERelationDef => definition.id -> definition }.toMap

  /** Removes the watermark from references to a column that has lost it in an operator below. */
  private def withWatermarksOfInput(node: LogicalPlan): LogicalPlan = {
    val lost = lostWatermarks(node)
    if (lost.isEmpty) node
    else {
      node.transformExpressions {
        case column: Attribute if lost.contains(column) =>
          GroupedOperator.withoutWatermark(column)
      }
    }
  }

  /** The columns that a node refers to with a watermark and that its input has without one. */
  def lostWatermarks(node: LogicalPlan): AttributeSet =
    node.references.filter(hasWatermark).filter { column =>
      node.inputSet.exists(own => own.exprId == column.exprId && !hasWatermark(own))
    }

  private def hasWatermark(column: Attribute): Boolean =
    column.metadata.contains(EventTimeWatermark.delayKey)

  /** The operator of one call. Its result columns are renewed by an Alias, because a self-join
    * renews the attributes of an Alias only.
    */
  private def single(call: OverCall, definitions: Map[Long, CTERelationDef]): LogicalPlan = {
    // The warning of Spark's own operator.
    if (call.group.isEmpty) {
      logWarning(
        "No Partition Defined for Window operation! Moving all data to a single partition, this can " +
          "cause serious performance degradation.")
    }
    val input = StoredColumns.of(call.child)
    def stored[A <: Expression](expression: A): A = ColumnsOfInput.in(expression, input.output)
    val functions = call.functions.map { case (function, alias) => stored(function) -> alias }
    val columns = functions.map { case (function, alias) => MergedOver.column(function, alias) }
    val spec = specOf(call)
    val rows = InSourceOrder.of(input, spec, definitions)
    val over = Over(
      spec = spec,
      group = call.group.map(stored),
      order = call.order.map(stored),
      time = call.time.map(stored),
      changeColumns = columns,
      results = functions.map(_._1),
      followsSource = rows.followsSource,
      sourcePartition = rows.sourcePartition,
      child = rows.child)
    Project(
      over.rows ++ columns.zip(functions).map { case (column, (_, alias)) =>
        MergedOver.renamed(column, alias)
      },
      over)
  }

  private def specOf(call: OverCall): OverSpec = {
    val settings = call.settings
    OverSpec(
      group = call.group.map(FramedFunction.textOf(_, call.child.output)),
      order = call.order.map(FramedFunction.textOf(_, call.child.output)),
      application = call.time.map(_ => Application.EventTime),
      idleMillis = settings.idleMillis,
      maxRows = settings.maxRows,
      dropNullTime = settings.dropNullTime,
      flushesAtEnd = settings.flushesAtEnd && call.time.isDefined,
      exactFloats = settings.exactFloats)
  }
}
