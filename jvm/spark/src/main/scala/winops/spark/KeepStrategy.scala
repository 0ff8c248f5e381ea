package winops.spark

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.streaming.ui.OperatorMetricsPage
import org.apache.spark.sql.winops.{RepartitionState, RepartitionStateExec, StatefulKeepExec}

/** Plans a [[Keep]]: what groups and orders the rows is computed below the shuffle, once. */
object KeepStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case keep: Keep =>
      val keys = keep.group.zipWithIndex.map { case (expression, i) => key(expression, i) }
      val computed = keys.collect { case alias: Alias => alias }
      val position = Alias(MonotonicallyIncreasingID(), "_position")()
      val input =
        ProjectExec((keep.child.output ++ computed) :+ position, planLater(keep.child))
      val shared = KeepPlan(
        keep.spec,
        keys.map(_.toAttribute),
        keep.group.map(KeyTypes.normalized),
        keep.expressionsOfRows,
        keep.punctuation,
        keep.order,
        keep.time,
        keep.changeColumns,
        keep.by,
        keep.results,
        keep.child.output,
        position.toAttribute)
      if (keep.isStreaming) {
        OperatorMetricsPage.install(KeepMetrics.own.toMap)
        val unshared = UnsharedExec(position.exprId.id, input)
        StatefulKeepExec(shared, hasNewRows(keep.child), unshared) :: Nil
      } else {
        val rows = keep.spec.newestRows.fold[SparkPlan](input)(NewestRowsExec(shared, _, input))
        BatchKeepExec(shared, keep.end, rows) :: Nil
      }
    case repartition: RepartitionState => RepartitionStateExec(repartition) :: Nil
    case _ => Nil
  }

  /** Whether a source of the stream has something new for the batch: Spark puts an empty relation
    * in the place of one that has not.
    */
  private def hasNewRows(stream: LogicalPlan): Boolean = stream.collectLeaves().exists {
    case empty: LocalRelation => empty.data.nonEmpty
    case source => source.isStreaming
  }

  private def key(expression: Expression, index: Int): NamedExpression =
    KeyTypes.normalized(expression) match {
      case attribute: Attribute => attribute
      case other => Alias(other, s"_group_$index")()
    }
}
