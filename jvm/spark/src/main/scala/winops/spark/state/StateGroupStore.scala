package winops.spark.state

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore}
import org.apache.spark.sql.types._
import org.apache.spark.sql.winops.internal.TaskPages

import winops.storage.btree.PageMemory
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, Segments}
import winops.window.crossgroup.GroupRecords

/** Stores groups in Spark's state store. The groups' own values lie in buckets of groups with
  * neighbouring hashes, or in entries of their own; each run of a group's rows and each page has
  * an entry.
  *
  * The key of an entry consists of the [[KeyHash]] of the group key, the group key, and a segment
  * number from 1 on. Entries with a group key of nulls are buckets (number 0) or belong to the
  * whole partition (negative numbers).
  *
  * A store that sorts its entries by their bytes has them in the order in which a task processes
  * its groups, so that neighbouring entries are read and written one after the other. Groups that
  * depend on each other are not processed in that order.
  */
final class StateGroupStore private (
    store: ReadStateStore,
    written: Option[StateStore],
    keys: Seq[Attribute],
    fixedBuckets: Option[Long],
    inOrder: Boolean)
    extends GroupStore {
  def this(store: StateStore, keys: Seq[Attribute], inOrder: Boolean = true) =
    this(store, Some(store), keys, None, inOrder)

  private val entries = new StoreEntries(store, written, keys)
  private val values = new GroupValues(entries, fixedBuckets, inOrder)
  private val rowKeys = new RowKeys(keys)
  private val noHash = 0L

  private val saved = new ByteWriter

  // Pages that a reader has changed cannot be written before they are dropped.
  override val pageMemory: PageMemory = new PageMemory(
    if (written.isEmpty) Long.MaxValue else TaskPages.boundOfLoaded(PageMemory.DefaultBytes))

  private val own = new OpenedGroup

  /** The open group whose value was read last. */
  private var readLast = own

  def entriesPut: Long = entries.entriesPut
  def entriesRemoved: Long = entries.entriesRemoved
  def entriesRead: Long = entries.entriesRead
  def bytesRead: Long = entries.bytesRead
  def bytesWritten: Long = entries.bytesWritten

  /** The number of entries that groups with short values share. */
  def numberOfBuckets: Long = values.numberOfBuckets

  /** Removes everything from the store. This object is not used any more. */
  def clear(): Unit = entries.clear()

  /** Checks the number of groups that have a value. With a wrong number, groups would be taken
    * for new ones.
    *
    * @throws CorruptStateException
    *   if the number is not `expected`
    */
  def checkSize(expected: Long): Unit =
    if (values.size != expected) {
      throw new CorruptStateException(s"$expected groups are counted, ${values.size} are stored")
    }

  override def open(key: UnsafeRow): ByteReader = own.open(key)
  override def save(write: ByteWriter => Unit): Unit = own.save(write)
  override def remove(): Unit = own.remove()
  override def windowSegments: Segments = own.windowSegments
  override def waitingSegments: Segments = own.waitingSegments

  /** Another place for an open group, beside those that are open. */
  def another(): GroupStore = new OpenedGroup

  /** Writes all pending changes, after the last group was saved. */
  def finish(): Unit = values.finish()

  /** The records of groups that depend on each other. */
  val records: GroupRecords = new GroupRecords {
    override def get(key: Array[Byte]): Array[Byte] = {
      val group = rowKeys.groupOf(key)
      entries.get(entries.hashOf(group), group, EntryNumbers.Record)
    }

    override def put(key: Array[Byte], value: Array[Byte]): Unit = {
      val group = rowKeys.groupOf(key)
      entries.put(entries.hashOf(group), group, EntryNumbers.Record, value)
    }

    override def remove(key: Array[Byte]): Unit = {
      val group = rowKeys.groupOf(key)
      entries.remove(entries.hashOf(group), group, EntryNumbers.Record)
    }
  }

  /** The segments that belong to the partition and not to a group. */
  val partition: Segments = new Segments {
    override def get(number: Long): Array[Byte] =
      entries.get(noHash, entries.noGroup, -1 - number)
    override def put(number: Long, bytes: Array[Byte]): Unit =
      entries.put(noHash, entries.noGroup, -1 - number, bytes)
    override def remove(number: Long): Unit = entries.remove(noHash, entries.noGroup, -1 - number)
  }

  /** Iterates over the keys of all groups. If the iteration stops early, Spark closes the
    * underlying iterator at the end of the task.
    */
  def each: Iterator[UnsafeRow] = {
    values.flush()
    values.groups.map(rowKeys.groupOf)
  }

  /** Iterates over all stored values of all groups. Closes the underlying iterator as [[each]]
    * does.
    */
  def pieces: Iterator[GroupPiece] = values.each ++ segments

  private def segments: Iterator[GroupPiece] = entries.all
    .filter { entry =>
      val number = entries.numberOf(entry.key)
      number > EntryNumbers.Bucket && !EntryNumbers.isValue(number)
    }
    .map { entry =>
      val group = entries.groupOf(entry.key).copy().getBytes
      GroupPiece(group, entries.numberOf(entry.key), entry.value.getBinary(0))
    }

  /** The rank of a group in the order of the store's entries, the cheapest order to process them.
    */
  def rankOf(group: UnsafeRow): Long = entries.hashOf(group) ^ Long.MinValue

  /** Stores a value or segment that was read from another store. */
  def put(piece: GroupPiece): Unit = own.put(piece)

  private final class OpenedGroup extends GroupStore {
    private var group: UnsafeRow = _
    private var groupBytes: Array[Byte] = _
    private var groupHash = 0L
    private var found = false

    /** The place of the group's value, which stays the same while the group is open. */
    private var place = 0

    override def pageMemory: PageMemory = StateGroupStore.this.pageMemory

    override def open(key: UnsafeRow): ByteReader = {
      select(key)
      val bytes = read()
      found = bytes != null
      if (found) new ByteReader(bytes) else null
    }

    override def save(write: ByteWriter => Unit): Unit = {
      saved.clear()
      write(saved)
      returnToPlace()
      values.put(groupHash, groupBytes, saved.toArray)
      place = values.place
    }

    override def remove(): Unit = if (found) {
      returnToPlace()
      values.remove(groupHash, groupBytes)
      place = values.place
    }

    def put(piece: GroupPiece): Unit = {
      select(piece.group(keys.size))
      if (piece.isOwnValue) values.enter(groupHash, piece)
      else entries.put(groupHash, group, piece.number, piece.content)
    }

    override val windowSegments: Segments =
      new Numbered(n => EntryNumbers.FirstWindowSegment + n)
    override val waitingSegments: Segments =
      new Numbered(n => EntryNumbers.FirstWaitingSegment + n)

    private def select(key: UnsafeRow): Unit = {
      group = key
      groupBytes = key.getBytes
      groupHash = entries.hashOf(key)
    }

    private def read(): Array[Byte] = {
      readLast = this
      val bytes = values.get(groupHash, groupBytes)
      place = values.place
      bytes
    }

    /** Returns to the place of the group's value from that of a group that was read later. */
    private def returnToPlace(): Unit = if (readLast ne this) {
      readLast = this
      values.returnTo(place)
    }

    private final class Numbered(numberOf: Long => Long) extends Segments {
      override def get(number: Long): Array[Byte] =
        entries.get(groupHash, group, numberOf(number))
      override def put(number: Long, bytes: Array[Byte]): Unit =
        entries.put(groupHash, group, numberOf(number), bytes)
      override def remove(number: Long): Unit =
        entries.remove(groupHash, group, numberOf(number))
    }
  }
}

object StateGroupStore {

  /** Opens the store of a partition for reading only. */
  def readOnly(store: ReadStateStore, keys: Seq[Attribute]): StateGroupStore =
    new StateGroupStore(store, None, keys, None, inOrder = true)

  /** Opens an empty store into which groups are moved. Nothing is removed during the move.
    *
    * @param buckets
    *   the number of entries that groups with short values share
    */
  def ofMoved(store: StateStore, keys: Seq[Attribute], buckets: Long): StateGroupStore =
    new StateGroupStore(store, Some(store), keys, Some(buckets), inOrder = true)

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

  /** The columns of the group key in what [[keySchema]] returned. */
  def keysIn(schema: StructType): Seq[Attribute] = schema.fields.toSeq
    .drop(1)
    .dropRight(1)
    .map(c => AttributeReference(c.name, c.dataType, c.nullable, c.metadata)())

  val valueSchema: StructType = new StructType().add("content", BinaryType, nullable = false)
}
