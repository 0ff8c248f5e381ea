package winops.spark.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore, UnsafeRowPair}
import org.apache.spark.sql.types._

import winops.spark.row.KeyHash

/** Reads and writes the entries of a Spark state store. The key of an entry consists of a hash,
  * the columns of a group key and a number; its value is bytes.
  *
  * A store that sorts its entries by their bytes has them in the unsigned order of their hashes.
  *
  * @param store
  *   the store to read
  * @param written
  *   the same store if it is writable
  * @param keys
  *   the columns of the group key
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
  private var reads = 0L
  private var read = 0L
  private var wrote = 0L

  /** Returns the hash of a group key. */
  val hashOf: UnsafeRow => Long = KeyHash(keys, keys)

  /** The group key of entries that belong to no group: all nulls. */
  val noGroup: InternalRow = new GenericInternalRow(keys.size)

  def entriesPut: Long = puts
  def entriesRemoved: Long = removes

  /** The number of entries read. Entries that do not exist do not count. */
  def entriesRead: Long = reads

  /** The number of bytes of the keys and values read. */
  def bytesRead: Long = read

  /** The number of bytes of the keys and values put, and of the keys removed. */
  def bytesWritten: Long = wrote

  /** Returns the bytes of an entry, or null. */
  def get(hash: Long, group: InternalRow, number: Long): Array[Byte] = {
    val key = entryKeyOf(hash, group, number)
    val value = store.get(key, StateStore.DEFAULT_COL_FAMILY_NAME)
    if (value == null) null
    else {
      countRead(key, value)
      shape.content(value)
    }
  }

  def put(hash: Long, group: InternalRow, number: Long, bytes: Array[Byte]): Unit = {
    puts += 1
    content.update(0, bytes)
    val entry = entryKeyOf(hash, group, number)
    val value = entryValue(content)
    wrote += entry.getSizeInBytes + value.getSizeInBytes
    writable.put(entry, value, StateStore.DEFAULT_COL_FAMILY_NAME)
  }

  def remove(hash: Long, group: InternalRow, number: Long): Unit = {
    removes += 1
    val entry = entryKeyOf(hash, group, number)
    wrote += entry.getSizeInBytes
    writable.remove(entry, StateStore.DEFAULT_COL_FAMILY_NAME)
  }

  /** Removes all entries. */
  def clear(): Unit = all.foreach { entry =>
    removes += 1
    wrote += entry.key.getSizeInBytes
    writable.remove(entry.key, StateStore.DEFAULT_COL_FAMILY_NAME)
  }

  /** Iterates over all entries, each valid until the next one. If the iteration stops early,
    * Spark closes the store's iterator at the end of the task.
    */
  def all: Iterator[UnsafeRowPair] = {
    val entries = store.iterator(StateStore.DEFAULT_COL_FAMILY_NAME)
    entries.map(shape.checked).tapEach(e => countRead(e.key, e.value)) ++ {
      entries.close()
      Iterator.empty
    }
  }

  /** Returns the group of an entry with this key, valid until the next call. */
  def groupOf(key: UnsafeRow): UnsafeRow = groupColumns(key)

  /** Returns the number of an entry with this key. */
  def numberOf(key: UnsafeRow): Long = key.getLong(keys.size + 1)

  private def countRead(key: UnsafeRow, value: UnsafeRow): Unit = {
    reads += 1
    read += key.getSizeInBytes + value.getSizeInBytes
  }

  private def writable: StateStore =
    written.getOrElse(throw new UnsupportedOperationException("this state is only read"))

  private def entryKeyOf(hash: Long, group: InternalRow, number: Long): UnsafeRow = {
    // UnsafeRow stores the lowest byte of a number first, so the hash is reversed.
    hashAndNumber.setLong(0, java.lang.Long.reverseBytes(EntryNumbers.hashIn(number, hash)))
    hashAndNumber.setLong(1, number)
    entryKey(joined(group, hashAndNumber))
  }
}
