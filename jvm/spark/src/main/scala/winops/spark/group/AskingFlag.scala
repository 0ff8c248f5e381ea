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

  /** True if the input has rows that read. */
  val isKnown: Boolean = ordinal >= 0

  /** The columns of a row that reads.
    *
    * @param size
    *   the number of the columns
    */
  def columnsOf(row: UnsafeRow, size: Int): UnsafeRow = row.getStruct(ordinal, size)

  /** Returns true for a row that reads. */
  def isSet(row: UnsafeRow): Boolean = isKnown && !row.isNullAt(ordinal)
}
