package winops.spark.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore, UnsafeRowPair}
import org.apache.spark.sql.types._

import winops.spark.row.KeyHash

/** The entries of one of Spark's state stores: bytes under a hash, the columns of a group, and a
  * number.
  *
  * A store that sorts its entries by their bytes has them in the unsigned order of their hashes.
  *
  * @param store
  *   is read from
  * @param written
  *   the same store, if it may be written to
  * @param keys
  *   the columns of a group's key
  */
private[spark] final class StoreEntries(
    store: ReadStateStore,
    written: Option[StateStore],
    val keys: Seq[Attribute]) {
  private val entryKey = {
    val columns = keys.zipWithIndex.map { case (k, i) =>
      BoundReference(i, k.dataType, nullable = true)
    }
    val hash = BoundReference(keys.size, LongType, nullable = false)
    val number = BoundReference(keys.size + 1, LongType, nullable = false)
    UnsafeProjection.create(hash +: columns :+ number)
  }
  private val hashAndNumber = new SpecificInternalRow(Seq(LongType, LongType))
  private val joined = new JoinedRow
  private val entryValue =
    UnsafeProjection.create(Seq(BoundReference(0, BinaryType, nullable = false)))
  private val content = new GenericInternalRow(1)
  private val groupColumns = UnsafeProjection.create(keys.zipWithIndex.map { case (key, i) =>
    BoundReference(i + 1, key.dataType, nullable = true)
  })
  private val shape = new EntryShape(keys)

  private var puts = 0L
  private var removes = 0L

  /** The hash of a group. */
  val hashOf: UnsafeRow => Long = KeyHash(keys, keys)

  /** Stands where a group is in entries of no group. */
  val noGroup: InternalRow = new GenericInternalRow(keys.size)

  def entriesPut: Long = puts
  def entriesRemoved: Long = removes

  /** The bytes of an entry, or null. */
  def get(hash: Long, group: InternalRow, number: Long): Array[Byte] = {
    val value = store.get(entryKeyOf(hash, group, number), StateStore.DEFAULT_COL_FAMILY_NAME)
    if (value == null) null else shape.content(value)
  }

  def put(hash: Long, group: InternalRow, number: Long, bytes: Array[Byte]): Unit = {
    puts += 1
    content.update(0, bytes)
    val entry = entryKeyOf(hash, group, number)
    writable.put(entry, entryValue(content), StateStore.DEFAULT_COL_FAMILY_NAME)
  }

  def remove(hash: Long, group: InternalRow, number: Long): Unit = {
    removes += 1
    writable.remove(entryKeyOf(hash, group, number), StateStore.DEFAULT_COL_FAMILY_NAME)
  }

  /** All entries, each valid until the next; what is open goes with the task if they are not read
    * to their end.
    */
  def all: Iterator[UnsafeRowPair] = {
    val entries = store.iterator(StateStore.DEFAULT_COL_FAMILY_NAME)
    entries.map(shape.checked) ++ {
      entries.close()
      Iterator.empty
    }
  }

  /** The group of an entry with this key; valid until the next. */
  def groupOf(key: UnsafeRow): UnsafeRow = groupColumns(key)

  /** The number of an entry with this key. */
  def numberOf(key: UnsafeRow): Long = key.getLong(keys.size + 1)

  private def writable: StateStore =
    written.getOrElse(throw new UnsupportedOperationException("this state is only read"))

  private def entryKeyOf(hash: Long, group: InternalRow, number: Long): UnsafeRow = {
    // The first byte of a number in a row is its lowest.
    hashAndNumber.setLong(0, java.lang.Long.reverseBytes(hash))
    hashAndNumber.setLong(1, number)
    entryKey(joined(group, hashAndNumber))
  }
}
