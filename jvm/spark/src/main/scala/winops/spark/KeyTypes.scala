package winops.spark

import org.apache.spark.sql.catalyst.expressions.RowOrdering
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types.DataType

/** The types whose values can be told apart by their bytes, floating-point numbers once they are
  * normalized: not maps and variants, nor strings of a collation that takes unequal ones for
  * equal.
  */
private[spark] object KeyTypes {
  def accept(dataType: DataType): Boolean =
    RowOrdering.isOrderable(dataType) && UnsafeRowUtils.isBinaryStable(dataType)
}
