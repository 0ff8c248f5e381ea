package winops.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore}
import org.apache.spark.sql.types._

import winops.log.{ByteReader, ByteWriter, Segments}

/** Groups in Spark's state store: one value per group, and one per sealed segment of a large one.
  *
  * The key of an entry is [[KeyHash]] of the group's key, the key, and a segment number: 0 for
  * the group itself, from 1 on for sealed rows. Negative numbers, under a key of nulls, belong to
  * the partition as a whole.
  *
  * A store that sorts its entries by their bytes has them in the order in which a task goes
  * through its groups, so that neighbours are read and written one after the other.
  *
  * @param store
  *   is read from
  * @param written
  *   the same store, if it may be written to
  */
final class StateGroupStore private (
    store: ReadStateStore,
    written: Option[StateStore],
    keys: Seq[Attribute])
    extends GroupStore {
  import StateGroupStore._

  def this(store: StateStore, keys: Seq[Attribute]) = this(store, Some(store), keys)

  private val entryKey = {
    val columns = keys.zipWithIndex.map { case (k, i) =>
      BoundReference(i, k.dataType, nullable = true)
    }
    val hash = BoundReference(keys.size, LongType, nullable = false)
    val segment = BoundReference(keys.size + 1, LongType, nullable = false)
    UnsafeProjection.create(hash +: columns :+ segment)
  }
  private val hashAndNumber = new SpecificInternalRow(Seq(LongType, LongType))
  private val joined = new JoinedRow
  private val hashOf = KeyHash(keys, keys)
  private val entryValue =
    UnsafeProjection.create(Seq(BoundReference(0, BinaryType, nullable = false)))
  private val content = new GenericInternalRow(1)
  private val noKey = new GenericInternalRow(keys.size)
  private val noHash = 0L

  private val saved = new ByteWriter
  private val shape = new EntryShape(keys)

  private var group: UnsafeRow = _
  private var groupHash = 0L
  private var found = false
  private var puts = 0L
  private var removes = 0L

  def entriesPut: Long = puts
  def entriesRemoved: Long = removes

  override def open(key: UnsafeRow): ByteReader = {
    group = key
    // The first byte of a number in a row is its lowest.
    groupHash = java.lang.Long.reverseBytes(hashOf(key))
    val bytes = get(groupHash, key, GroupNumber)
    found = bytes != null
    if (found) new ByteReader(bytes) else null
  }

  override def save(write: ByteWriter => Unit): Unit = {
    saved.clear()
    write(saved)
    put(groupHash, group, GroupNumber, saved.toArray)
  }

  override def remove(): Unit = if (found) remove(groupHash, group, GroupNumber)

  override val windowSegments: Segments = new Numbered(n => FirstWindowSegment + n)
  override val waitingSegments: Segments = new Numbered(n => FirstWaitingSegment + n)

  /** What belongs to the partition and to no group. */
  val partition: Segments = new Segments {
    override def get(number: Long): Array[Byte] =
      StateGroupStore.this.get(noHash, noKey, -1 - number)
    override def put(number: Long, bytes: Array[Byte]): Unit =
      StateGroupStore.this.put(noHash, noKey, -1 - number, bytes)
    override def remove(number: Long): Unit =
      StateGroupStore.this.remove(noHash, noKey, -1 - number)
  }

  /** The keys of all groups. */
  def all: Seq[UnsafeRow] = each.toVector

  /** The keys of all groups, one by one; what is open goes with the task if it is not read to its
    * end.
    */
  def each: Iterator[UnsafeRow] = {
    val columns = keys.zipWithIndex.map { case (key, i) =>
      BoundReference(i + 1, key.dataType, nullable = true)
    }
    val keyOf = UnsafeProjection.create(columns)
    val entries = store.iterator(StateStore.DEFAULT_COL_FAMILY_NAME)
    val read = entries
      .map(shape.checked)
      .filter(_.key.getLong(keys.size + 1) == GroupNumber)
      .map(entry => keyOf(entry.key).copy())
    read ++ {
      entries.close()
      Iterator.empty
    }
  }

  private final class Numbered(numberOf: Long => Long) extends Segments {
    override def get(number: Long): Array[Byte] =
      StateGroupStore.this.get(groupHash, group, numberOf(number))
    override def put(number: Long, bytes: Array[Byte]): Unit =
      StateGroupStore.this.put(groupHash, group, numberOf(number), bytes)
    override def remove(number: Long): Unit =
      StateGroupStore.this.remove(groupHash, group, numberOf(number))
  }

  private def get(hash: Long, key: InternalRow, segment: Long): Array[Byte] = {
    val value = store.get(entryKeyOf(hash, key, segment), StateStore.DEFAULT_COL_FAMILY_NAME)
    if (value == null) null else shape.content(value)
  }

  private def put(hash: Long, key: InternalRow, segment: Long, bytes: Array[Byte]): Unit = {
    puts += 1
    content.update(0, bytes)
    val entry = entryKeyOf(hash, key, segment)
    writable.put(entry, entryValue(content), StateStore.DEFAULT_COL_FAMILY_NAME)
  }

  private def remove(hash: Long, key: InternalRow, segment: Long): Unit = {
    removes += 1
    writable.remove(entryKeyOf(hash, key, segment), StateStore.DEFAULT_COL_FAMILY_NAME)
  }

  private def writable: StateStore =
    written.getOrElse(throw new UnsupportedOperationException("this state is only read"))

  private def entryKeyOf(hash: Long, key: InternalRow, segment: Long): UnsafeRow = {
    hashAndNumber.setLong(0, hash)
    hashAndNumber.setLong(1, segment)
    entryKey(joined(key, hashAndNumber))
  }
}

object StateGroupStore {

  /** Groups that are looked at and stay as they are. */
  def readOnly(store: ReadStateStore, keys: Seq[Attribute]): StateGroupStore =
    new StateGroupStore(store, None, keys)

  private val GroupNumber = 0L
  private val FirstWindowSegment = 1L
  private val FirstWaitingSegment = 1L << 62

  val HashColumn = "_hash"
  val SegmentColumn = "_segment"

  def keySchema(keys: Seq[Attribute]): StructType = {
    def unused(name: String): String = Iterator
      .iterate(name)(name => s"_$name")
      .filterNot(name => keys.exists(_.name.equalsIgnoreCase(name)))
      .next()
    new StructType(
      StructField(unused(HashColumn), LongType, nullable = false) +:
        keys.map(k => StructField(k.name, k.dataType)).toArray :+
        StructField(unused(SegmentColumn), LongType, nullable = false))
  }

  val valueSchema: StructType = new StructType().add("content", BinaryType, nullable = false)
}
