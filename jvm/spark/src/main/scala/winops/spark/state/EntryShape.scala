package winops.spark.state

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair

import winops.spark.row.RowShape
import winops.storage.bytes.CorruptStateException

/** What the rows of a state entry have to be. A store gives what its files hold, and Spark looks
  * at the first entry of each store only.
  *
  * @param keys
  *   the columns of a group's key
  */
final class EntryShape(keys: Seq[Attribute]) {
  private val key = RowShape.ofTypes(StateGroupStore.keySchema(keys).map(_.dataType))
  private val value = RowShape.ofTypes(StateGroupStore.valueSchema.map(_.dataType))

  /** What an entry's value contains.
    *
    * @throws winops.storage.bytes.CorruptStateException
    *   if it does not lie within the row
    */
  def content(row: UnsafeRow): Array[Byte] = {
    value.check(row)
    val bytes = row.getBinary(0)
    if (bytes == null) throw new CorruptStateException("an entry has no content")
    bytes
  }

  /** The entry, if both of its rows can be read.
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
