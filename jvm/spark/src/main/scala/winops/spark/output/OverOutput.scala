package winops.spark.output

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.types.DataTypeUtils

import winops.spark.group.OverOperation
import winops.spark.internal.KeepMetrics
import winops.spark.plan.OverPlan
import winops.spark.row.RowBytes

/** Emits each row with the results of window functions as further columns, as soon as no further
  * row can change them.
  */
private final class OverOutput(plan: OverPlan, over: OverOperation, metrics: KeepMetrics)
    extends OutputWriter(metrics) {
  private val content = new UnsafeRow(plan.content.size)
  private val joiner = GenerateUnsafeRowJoiner.create(
    DataTypeUtils.fromAttributes(plan.content),
    DataTypeUtils.fromAttributes(plan.changeColumns))

  override def hasNext: Boolean = over.isKnown

  override protected def emit(): InternalRow = {
    val results = over.results
    RowBytes.pointTo(content, over.rows, over.next)
    val row = joiner.join(content, results)
    over.take()
    row
  }
}
