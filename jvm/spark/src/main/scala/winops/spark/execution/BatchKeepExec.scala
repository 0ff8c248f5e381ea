package winops.spark.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.{AllTuples, ClusteredDistribution, Distribution, Partitioning}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.winops.internal.TaskPages

import winops.spark.group.BatchTimes
import winops.spark.input.GroupedRows
import winops.spark.internal.KeepMetrics
import winops.spark.plan.KeepPlan
import winops.spark.state.TransientPartitionState
import winops.storage.btree.PageMemory
import winops.window.time.Clock

/** Executes a `keep` over a table.
  *
  * @param end
  *   the greatest event time of all rows, at which time stops; none if the plan does not use time
  */
final case class BatchKeepExec(plan: KeepPlan, end: Option[Expression], child: SparkPlan)
    extends UnaryExecNode {
  override def nodeName: String = "Keep"
  override def output: Seq[Attribute] = plan.output
  override def producedAttributes: AttributeSet = AttributeSet(plan.changeColumns)
  override lazy val metrics: Map[String, SQLMetric] = KeepMetrics.forTable(sparkContext)

  override def requiredChildDistribution: Seq[Distribution] =
    (if (plan.spec.runsInOneTask) AllTuples else ClusteredDistribution(plan.keys)) :: Nil

  override def requiredChildOrdering: Seq[Seq[SortOrder]] = plan.inputOrder :: Nil
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def simpleString(maxFields: Int): String = plan.simpleString

  override def verboseStringWithOperatorId(): String = plan.verboseString(formattedNodeName)

  override protected def withNewChildInternal(newChild: SparkPlan): BatchKeepExec =
    copy(child = newChild)

  override protected def doExecute(): RDD[InternalRow] = {
    val shared = plan
    val input = child.output
    val counters = new KeepMetrics(metrics)
    val endMillis = end
      .flatMap(e => Option(e.eval()))
      .map(micros => Clock.floorToMillis(micros.asInstanceOf[Long]))
    val times = BatchTimes.ofTable(endMillis)
    child.execute().mapPartitions { rows =>
      val memory = new PageMemory(TaskPages.boundOfLoaded(PageMemory.DefaultBytes))
      lazy val groups = new SpillableGroups(memory)
      OperatorTask.of(
        shared,
        input,
        GroupedRows.ofTask(shared, input, rows),
        times,
        if (shared.spec.isCrossGroup) groups else new SpillableGroupStore(memory),
        new SpillableGroupStore(memory),
        groups.records,
        new TransientPartitionState(counters),
        counters)
    }
  }
}
