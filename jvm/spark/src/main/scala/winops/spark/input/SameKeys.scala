package winops.spark.input

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.unsafe.array.ByteArrayMethods

/** Compares the keys of two rows byte by byte.
  *
  * @param keys
  *   the key columns, which are among `input`
  * @param input
  *   the columns of the rows
  */
private[spark] final class SameKeys(keys: Seq[Attribute], input: Seq[Attribute]) {
  private val columns = keys.map(key => input.indexWhere(_.exprId == key.exprId)).toArray
  private val hasFixedLength = keys.map(key => UnsafeRow.isFixedLength(key.dataType)).toArray

  /** Returns true if both rows have the same key. */
  def apply(left: UnsafeRow, right: UnsafeRow): Boolean = {
    var i = 0
    while (i < columns.length && isSame(left, right, columns(i), hasFixedLength(i))) i += 1
    i == columns.length
  }

  private def isSame(
      left: UnsafeRow,
      right: UnsafeRow,
      column: Int,
      fixedLength: Boolean): Boolean = {
    val isNull = left.isNullAt(column)
    isNull == right.isNullAt(column) && {
      if (isNull) true
      else if (fixedLength) left.getLong(column) == right.getLong(column)
      else haveSameBytes(left, right, column)
    }
  }

  /** Compares values of variable length. The field of such a value holds its offset and its
    * length.
    */
  private def haveSameBytes(left: UnsafeRow, right: UnsafeRow, column: Int): Boolean = {
    val (ofLeft, ofRight) = (left.getLong(column), right.getLong(column))
    ofLeft.toInt == ofRight.toInt && ByteArrayMethods.arrayEquals(
      left.getBaseObject,
      left.getBaseOffset + (ofLeft >>> Integer.SIZE),
      right.getBaseObject,
      right.getBaseOffset + (ofRight >>> Integer.SIZE),
      ofLeft.toInt.toLong)
  }
}
