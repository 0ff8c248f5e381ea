package winops.spark.harness

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BindReferences, Predicate, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, SubqueryAlias}

import winops.spark.source.StoredColumns

/** Evaluates the projections and filters of a plan over the rows of its relation. */
private[harness] object ComputedRows {

  /** Returns a function from a row of the relation to the row of the plan, or to None if a filter
    * removes the row. A row is valid until the next call.
    */
  def of(plan: LogicalPlan): InternalRow => Option[InternalRow] = plan match {
    case Project(list, child) =>
      val below = of(child)
      val project = UnsafeProjection.create(BindReferences.bindReferences(list, child.output))
      row => below(row).map(project)
    case Filter(condition, child) =>
      val below = of(child)
      val accepts = Predicate.create(condition, child.output)
      row => below(row).filter(accepts.eval)
    case SubqueryAlias(_, child) => of(child)
    case StoredColumns(child) => of(child)
    case _ => Some(_)
  }
}
