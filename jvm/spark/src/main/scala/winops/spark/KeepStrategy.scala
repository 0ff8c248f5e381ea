package winops.spark

import org.apache.spark.sql.catalyst.expressions.{Alias, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.ui.OperatorMetricsPage
import org.apache.spark.sql.winops.checkpoint.{RepartitionState, RepartitionStateExec}
import org.apache.spark.sql.winops.execution.StatefulKeepExec
import org.apache.spark.sql.winops.source.{FilePosition, FilePositionExec}

import winops.spark.analysis.KeepDescriber
import winops.spark.execution.{BatchKeepExec, NewestRowsExec, UnsharedExec}
import winops.spark.internal.{KeepMetrics, WinopsErrors}
import winops.spark.plan.{Keep, KeepPlan}
import winops.spark.source.{OrderOfTasks, Positioned, SourceOrder, StoredColumns}

/** Plans a [[Keep]] and the other nodes of winops. Expressions that group and order the rows are
  * computed once, below the shuffle.
  */
object KeepStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case keep: Keep =>
      val keys = KeepPlan.keys(keep)
      val computed = keys.collect { case alias: Alias => alias }
      val (child, positions) = positioned(keep)
      val input = ProjectExec(keep.child.output ++ computed ++ positions, planLater(child))
      val shared = KeepPlan.of(keep, keys.map(_.toAttribute), positions.map(_.toAttribute))
      if (keep.isStreaming) {
        if (keep.spec.flushesAtEnd) checkEnd(keep)
        OperatorMetricsPage.install(KeepMetrics.inProgress.toMap)
        val unshared = UnsharedExec(NamedExpression.newExprId.id, input)
        StatefulKeepExec(
          shared,
          KeepDescriber.text(keep),
          hasNewRows(keep.child),
          unshared) :: Nil
      } else {
        val rows = keep.spec.newestRows.fold[SparkPlan](input)(NewestRowsExec(shared, _, input))
        BatchKeepExec(shared, keep.end, rows) :: Nil
      }
    case FilePosition(position, child, isRequired, byAge) =>
      FilePositionExec(position, isRequired, byAge, planLater(child)) :: Nil
    case StoredColumns(child) => planLater(child) :: Nil
    case repartition: RepartitionState => RepartitionStateExec(repartition) :: Nil
    case _ => Nil
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
  private def checkEnd(keep: Keep): Unit =
    if (!SQLConf.get.getConf(SQLConf.STREAMING_TRIGGER_AVAILABLE_NOW_WRAPPER_ENABLED)) {
      keep.child.foreach {
        case source: StreamingDataSourceV2ScanRelation
            if !source.stream.isInstanceOf[SupportsTriggerAvailableNow] =>
          throw WinopsErrors.analysis(
            "WINOPS_AT_END",
            "argument" -> keep.spec.words.flush,
            "without" -> keep.spec.words.noFlush,
            "reason" ->
              s"the source ${source.relation.name} does not support the trigger availableNow",
            "expected" ->
              s"Set ${SQLConf.STREAMING_TRIGGER_AVAILABLE_NOW_WRAPPER_ENABLED.key} to true")
        case _ =>
      }
    }

  /** The child of a `keep`, and the expressions that order its rows as their source does. */
  private def positioned(keep: Keep): (LogicalPlan, Seq[NamedExpression]) =
    SourceOrder.of(keep.child) match {
      case Right(OrderOfTasks(_)) if keep.followsSource =>
        (keep.child, Seq(SourceOrder.numberInTasks()))
      case Right(order) if keep.followsSource =>
        val Positioned(plan, positions, isUnique, _) = order.positioned
        val checked = plan.transform { case files: FilePosition =>
          files.copy(isRequired = keep.needsSourceOrder, byAge = keep.isStreaming)
        }
        (checked, if (isUnique) positions else positions :+ SourceOrder.numberInTasks())
      case Left(operator) if keep.needsSourceOrder =>
        throw SourceOrder.required(operator.nodeName)
      case _ => (keep.child, Nil)
    }
}
