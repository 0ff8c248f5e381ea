package winops.spark

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.ui.OperatorMetricsPage
import org.apache.spark.sql.winops.checkpoint.{RepartitionState, RepartitionStateExec, RestartPlanExec, RestartPlanRelation}
import org.apache.spark.sql.winops.execution.StatefulKeepExec
import org.apache.spark.sql.winops.source.{FilePosition, FilePositionExec}

import winops.spark.analysis.KeepDescriber
import winops.spark.checkpoint.StoredKeep
import winops.spark.execution.{BatchKeepExec, NewestRowsExec, UnsharedExec}
import winops.spark.internal.{KeepMetrics, WinopsErrors}
import winops.spark.plan.{GroupedOperator, Keep, KeepPlan, OperatorPlan}
import winops.spark.source.{OrderOfTasks, Positioned, SourceOrder, StoredColumns}

/** Plans the operators and the other nodes of winops. Expressions that group and order the rows
  * are computed once, below the shuffle.
  */
object KeepStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case operator: GroupedOperator if operator.isStreaming =>
      if (operator.spec.flushesAtEnd) checkEnd(operator)
      OperatorMetricsPage.install(KeepMetrics.inProgress.toMap)
      val (keys, positions, input) = inputOf(operator)
      StatefulKeepExec(
        withParser(operator.plan(keys, positions)),
        KeepDescriber.text(operator),
        hasNewRows(operator.child),
        UnsharedExec(NamedExpression.newExprId.id, input)) :: Nil
    case keep: Keep =>
      val (keys, positions, input) = inputOf(keep)
      val plan = keep.plan(keys, positions)
      val rows = keep.spec.newestRows.fold[SparkPlan](input)(NewestRowsExec(plan, _, input))
      BatchKeepExec(plan, keep.end, rows) :: Nil
    case FilePosition(position, child, isRequired, byAge) =>
      FilePositionExec(position, isRequired, byAge, planLater(child)) :: Nil
    case StoredColumns(child) => planLater(child) :: Nil
    case repartition: RepartitionState => RepartitionStateExec(repartition) :: Nil
    case restart: RestartPlanRelation => RestartPlanExec(restart) :: Nil
    case _ => Nil
  }

  /** The plan with what it needs to let rows of another window enter its own. */
  private def withParser(plan: OperatorPlan): OperatorPlan = plan match {
    case keep: KeepPlan if keep.spec.restart.carries =>
      val restart = keep.spec.restart.copy(parser = Some(StoredKeep))
      keep.copy(spec = keep.spec.copy(restart = restart))
    case other => other
  }

  /** The keys and positions of an operator's rows, and the plan that computes them. */
  private def inputOf(operator: GroupedOperator): (Seq[Attribute], Seq[Attribute], SparkPlan) = {
    val keys = operator.keys
    val computed = keys.collect { case alias: Alias => alias }
    val (child, positions) = positioned(operator)
    val input = ProjectExec(operator.child.output ++ computed ++ positions, planLater(child))
    (keys.map(_.toAttribute), positions.map(_.toAttribute), input)
  }

  /** Returns true if a source of the stream has new rows for the micro-batch. Spark replaces a
    * source without new rows by an empty relation.
    */
  private def hasNewRows(stream: LogicalPlan): Boolean = stream.collectLeaves().exists {
    case rows: LocalRelation => rows.isStreaming && rows.data.nonEmpty
    case source => source.isStreaming
  }

  /** Refuses sources that do not support the trigger `availableNow` if Spark's wrapper for such
    * sources is off. Spark then reads all rows in one micro-batch and runs no further one, in
    * which waiting rows could be applied.
    */
  private def checkEnd(operator: GroupedOperator): Unit =
    if (!SQLConf.get.getConf(SQLConf.STREAMING_TRIGGER_AVAILABLE_NOW_WRAPPER_ENABLED)) {
      operator.child.foreach {
        case source: StreamingDataSourceV2ScanRelation
            if !source.stream.isInstanceOf[SupportsTriggerAvailableNow] =>
          throw WinopsErrors.analysis(
            "WINOPS_AT_END",
            "argument" -> operator.spec.words.flush,
            "without" -> operator.spec.words.noFlush,
            "reason" ->
              s"the source ${source.relation.name} does not support the trigger availableNow",
            "expected" ->
              s"Set ${SQLConf.STREAMING_TRIGGER_AVAILABLE_NOW_WRAPPER_ENABLED.key} to true")
        case _ =>
      }
    }

  /** The child of an operator, and the expressions that order its rows as their source does. */
  private def positioned(operator: GroupedOperator): (LogicalPlan, Seq[NamedExpression]) =
    SourceOrder.of(operator.child) match {
      case Right(OrderOfTasks(_)) if operator.followsSource =>
        (operator.child, Seq(SourceOrder.numberInTasks()))
      case Right(order) if operator.followsSource =>
        val Positioned(plan, positions, isUnique, _) = order.positioned
        val checked = plan.transform { case files: FilePosition =>
          files.copy(isRequired = operator.spec.needsSourceOrder, byAge = operator.isStreaming)
        }
        (checked, if (isUnique) positions else positions :+ SourceOrder.numberInTasks())
      case Left(below) if operator.spec.needsSourceOrder =>
        throw SourceOrder.required(below.nodeName)
      case _ => (operator.child, Nil)
    }
}
