package winops.spark.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import winops.spark.plan.KeepPlan

/** Drops rows before the shuffle that are not among the newest `count` rows of their group in the
  * task, as far as memory allows. The `keep` above needs no other rows.
  *
  * @param count
  *   number of newest rows per group that the query needs
  */
final case class NewestRowsExec(plan: KeepPlan, count: Int, child: SparkPlan)
    extends UnaryExecNode {
  override def nodeName: String = "NewestRows"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override def simpleString(maxFields: Int): String =
    s"$nodeName $count${plan.spec.group.mkString(", per [", ", ", "]")}"

  override def verboseStringWithOperatorId(): String =
    s"$formattedNodeName\n${simpleString(conf.maxToStringFields)}\n"

  override protected def withNewChildInternal(newChild: SparkPlan): NewestRowsExec =
    copy(child = newChild)

  override protected def doExecute(): RDD[InternalRow] = {
    val (shared, newest) = (plan, count)
    val input = child.output
    val outputRows = longMetric("numOutputRows")
    child.execute().mapPartitions { rows =>
      val unsafe = rows.asInstanceOf[Iterator[UnsafeRow]]
      new NewestRowsOfTask(shared, input, newest, unsafe).map { row =>
        outputRows += 1
        row
      }
    }
  }
}
