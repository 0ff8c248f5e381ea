package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}

import winops.spark.plan.OperatorPlan

/** Distinguishes the rows that read the state of their group from those that enter it.
  *
  * @param columns
  *   the columns of a row
  */
private[spark] final class AskingFlag(plan: OperatorPlan, columns: Seq[Attribute]) {
  private val ordinal =
    plan.asking.fold(-1)(asking => columns.indexWhere(_.exprId == asking.exprId))

  /** Returns true for a row that reads. */
  def isSet(row: UnsafeRow): Boolean = ordinal >= 0 && !row.isNullAt(ordinal)
}
