package winops.spark.execution

import org.apache.spark.SparkContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute

import winops.spark.input.GroupedRows
import winops.spark.plan.OperatorPlan

/** The way in which the rows of a micro-batch arrive at the tasks of an operator. */
trait RowArrival extends Serializable {

  /** True if the input of a task has the order of [[OperatorPlan.inputOrder]], which needs all of
    * its rows.
    */
  def isSorted: Boolean

  /** The rows of a task.
    *
    * @param input
    *   the columns of the rows
    */
  def rows(plan: OperatorPlan, input: Seq[Attribute], rows: Iterator[InternalRow]): ArrivedRows

  /** Registers what the tasks report beside metrics, before they run. */
  def register(context: SparkContext): Unit = ()

  /** The values that the tasks have reported beside metrics, by their names in the progress of
    * the query.
    */
  def reported: Map[String, Long] = Map.empty
}

object RowArrival {

  /** A task reads all of its rows before it processes them, group by group. */
  object ByGroup extends RowArrival {
    override def isSorted: Boolean = true

    override def rows(
        plan: OperatorPlan,
        input: Seq[Attribute],
        rows: Iterator[InternalRow]): ArrivedRows =
      ArrivedRows.byGroup(GroupedRows.ofTask(plan, input, rows))
  }
}
