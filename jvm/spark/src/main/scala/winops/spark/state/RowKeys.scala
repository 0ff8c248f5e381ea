package winops.spark.state

import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeRow}

import winops.spark.row.RowShape
import winops.window.crossgroup.GroupKeys

/** The keys of groups as rows of the columns of the group key. */
final class RowKeys(columns: Seq[Expression]) extends GroupKeys[UnsafeRow] {
  private val shape = RowShape.of(columns)

  override def bytesOf(group: UnsafeRow): Array[Byte] = group.getBytes

  override def groupOf(key: Array[Byte]): UnsafeRow = {
    val row = new UnsafeRow(columns.size)
    shape.pointTo(row, key)
    row
  }
}
