package winops.spark.state

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair

import winops.spark.row.RowShape
import winops.storage.bytes.CorruptStateException

/** Checks that the rows of a state entry lie within their bytes. A state store returns whatever
  * its files contain, and Spark validates only the first entry of each store.
  *
  * @param keys
  *   the columns of the group key
  */
final class EntryShape(keys: Seq[Attribute]) {
  private val key = RowShape.ofTypes(StateGroupStore.keySchema(keys).map(_.dataType))
  private val value = RowShape.ofTypes(StateGroupStore.valueSchema.map(_.dataType))

  /** Returns the bytes in an entry's value.
    *
    * @throws winops.storage.bytes.CorruptStateException
    *   if the value does not lie within the row, or is null
    */
  def content(row: UnsafeRow): Array[Byte] = {
    value.check(row)
    val bytes = row.getBinary(0)
    if (bytes == null) throw new CorruptStateException("an entry has no content")
    bytes
  }

  /** Returns the entry if both of its rows are well formed.
    *
    * @throws winops.storage.bytes.CorruptStateException
    *   if a column does not lie within its row
    */
  def checked(entry: UnsafeRowPair): UnsafeRowPair = {
    key.check(entry.key)
    value.check(entry.value)
    entry
  }
}
