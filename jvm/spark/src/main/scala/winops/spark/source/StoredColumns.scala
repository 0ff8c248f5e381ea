package winops.spark.source

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.winops.internal.Catalyst

/** The rows of a stream with the columns of stored rows, which are nullable at every depth.
  *
  * The rows of a window may come from an earlier start of the query, when its columns had NULLs.
  * Spark compiles expressions against the declared nullability, and reads values that cannot be
  * NULL without a look at the null bits. A `keep` over this node is compiled, and declares its
  * output, for all rows that its state may hold. The optimizer cannot undo this, because it takes
  * the nullability of a column from the operator below.
  */
final case class StoredColumns(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output.map(StoredColumns.nullable)

  override protected def withNewChildInternal(newChild: LogicalPlan): StoredColumns =
    copy(child = newChild)
}

object StoredColumns {

  /** The plan with the columns of stored rows. Returns the plan itself if its columns are
    * nullable already, and for a table, which is not stored.
    */
  def of(plan: LogicalPlan): LogicalPlan =
    if (plan.isStreaming && plan.output.exists(column => nullable(column) != column)) {
      StoredColumns(plan)
    } else plan

  private def nullable(column: Attribute): Attribute =
    column.withDataType(Catalyst.asNullable(column.dataType)).withNullability(true)
}
