package winops.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.types._

import winops.log.{ByteReader, ByteWriter, Segments}

/** Groups in Spark's state store: one value per group, and one per sealed segment of a large one.
  *
  * The key of an entry is the group's key and a segment number: 0 for the group itself, from 1 on
  * for sealed rows. Negative numbers, under a key of nulls, belong to the partition as a whole.
  */
final class StateGroupStore(store: StateStore, keys: Seq[Attribute]) extends GroupStore {
  import StateGroupStore._

  private val entryKey = {
    val columns = keys.zipWithIndex.map { case (k, i) =>
      BoundReference(i, k.dataType, nullable = true)
    }
    UnsafeProjection.create(columns :+ BoundReference(keys.size, LongType, nullable = false))
  }
  private val number = new SpecificInternalRow(Seq(LongType))
  private val joined = new JoinedRow
  private val entryValue =
    UnsafeProjection.create(Seq(BoundReference(0, BinaryType, nullable = false)))
  private val content = new GenericInternalRow(1)
  private val noKey = new GenericInternalRow(keys.size)

  private val saved = new ByteWriter

  private var group: UnsafeRow = _
  private var found = false
  private var puts = 0L
  private var removes = 0L

  def entriesPut: Long = puts
  def entriesRemoved: Long = removes

  override def open(key: UnsafeRow): ByteReader = {
    group = key
    val bytes = get(key, GroupNumber)
    found = bytes != null
    if (found) new ByteReader(bytes) else null
  }

  override def save(write: ByteWriter => Unit): Unit = {
    saved.clear()
    write(saved)
    put(group, GroupNumber, saved.toArray)
  }

  override def remove(): Unit = if (found) remove(group, GroupNumber)

  override val windowSegments: Segments = new Numbered(n => FirstWindowSegment + n)
  override val waitingSegments: Segments = new Numbered(n => FirstWaitingSegment + n)

  /** What belongs to the partition and to no group. */
  val partition: Segments = new Segments {
    override def get(number: Long): Array[Byte] = StateGroupStore.this.get(noKey, -1 - number)
    override def put(number: Long, bytes: Array[Byte]): Unit =
      StateGroupStore.this.put(noKey, -1 - number, bytes)
    override def remove(number: Long): Unit = StateGroupStore.this.remove(noKey, -1 - number)
  }

  /** The keys of all groups. */
  def all: Seq[UnsafeRow] = {
    val columns = keys.zipWithIndex.map { case (key, i) =>
      BoundReference(i, key.dataType, nullable = true)
    }
    val keyOf = UnsafeProjection.create(columns)
    val entries = store.iterator(StateStore.DEFAULT_COL_FAMILY_NAME)
    try {
      entries
        .filter(_.key.getLong(keys.size) == GroupNumber)
        .map(entry => keyOf(entry.key).copy())
        .toVector
    } finally entries.close()
  }

  private final class Numbered(numberOf: Long => Long) extends Segments {
    override def get(number: Long): Array[Byte] =
      StateGroupStore.this.get(group, numberOf(number))
    override def put(number: Long, bytes: Array[Byte]): Unit =
      StateGroupStore.this.put(group, numberOf(number), bytes)
    override def remove(number: Long): Unit = StateGroupStore.this.remove(group, numberOf(number))
  }

  private def get(key: InternalRow, segment: Long): Array[Byte] = {
    val value = store.get(entryKeyOf(key, segment), StateStore.DEFAULT_COL_FAMILY_NAME)
    if (value == null) null else value.getBinary(0)
  }

  private def put(key: InternalRow, segment: Long, bytes: Array[Byte]): Unit = {
    puts += 1
    content.update(0, bytes)
    store.put(entryKeyOf(key, segment), entryValue(content), StateStore.DEFAULT_COL_FAMILY_NAME)
  }

  private def remove(key: InternalRow, segment: Long): Unit = {
    removes += 1
    store.remove(entryKeyOf(key, segment), StateStore.DEFAULT_COL_FAMILY_NAME)
  }

  private def entryKeyOf(key: InternalRow, segment: Long): UnsafeRow = {
    number.setLong(0, segment)
    entryKey(joined(key, number))
  }
}

object StateGroupStore {
  private val GroupNumber = 0L
  private val FirstWindowSegment = 1L
  private val FirstWaitingSegment = 1L << 62

  val SegmentColumn = "_segment"

  def keySchema(keys: Seq[Attribute]): StructType = {
    val segment = Iterator.iterate(SegmentColumn)(name => s"_$name").find { name =>
      !keys.exists(_.name.equalsIgnoreCase(name))
    }
    StructType(keys.map(k => StructField(k.name, k.dataType)))
      .add(segment.get, LongType, nullable = false)
  }

  val valueSchema: StructType = new StructType().add("content", BinaryType, nullable = false)
}
