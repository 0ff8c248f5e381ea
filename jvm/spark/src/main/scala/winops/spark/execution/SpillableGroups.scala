package winops.spark.execution

import java.nio.ByteBuffer
import java.util.Arrays

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.winops.execution.SpillFile
import org.apache.spark.sql.winops.internal.SpillableMemory

import winops.spark.state.GroupStore
import winops.storage.btree.{PageMemory, Pages}
import winops.storage.bytes.{ByteReader, ByteWriter, Bytes, Segments}
import winops.window.crossgroup.GroupRecords

/** Stores the groups of a cross-group window over a table, with their records. The values are on
  * the heap while Spark grants the task memory for them; after that, all are in a temporary file.
  *
  * @param limit
  *   number of bytes on the heap at most, whatever Spark grants
  */
private[execution] final class SpillableGroups(
    override val pageMemory: PageMemory,
    limit: Long = Long.MaxValue)
    extends GroupStore {
  import SpillableGroups._

  private var onHeap = mutable.HashMap.empty[ByteBuffer, Array[Byte]]
  private val memory = new SpillableMemory(() => spill(), limit)

  // The memory for pages of the groups must not be used: it is in the middle of an unload when it
  // writes pages to this store.
  private lazy val spilled = {
    val own = new PageMemory(Math.min(pageMemory.limit, PageMemory.DefaultBytes))
    new Pages(new SpilledSegments, own).newMap()
  }
  private var isSpilled = false
  private var group = Array.emptyByteArray

  override def open(key: UnsafeRow): ByteReader = {
    group = key.getBytes
    val bytes = get(keyOf(Value, group, 0L))
    if (bytes == null) null else new ByteReader(bytes)
  }

  override val windowSegments: Segments = new OfOpenGroup(Window)
  override val waitingSegments: Segments = new OfOpenGroup(Waiting)

  override def save(write: ByteWriter => Unit): Unit = {
    val out = new ByteWriter
    write(out)
    put(keyOf(Value, group, 0L), out.toArray)
  }

  override def remove(): Unit = remove(keyOf(Value, group, 0L))

  /** The records of the groups. */
  val records: GroupRecords = new GroupRecords {
    override def get(key: Array[Byte]): Array[Byte] =
      SpillableGroups.this.get(keyOf(Record, key, 0L))
    override def put(key: Array[Byte], value: Array[Byte]): Unit =
      SpillableGroups.this.put(keyOf(Record, key, 0L), value)
    override def remove(key: Array[Byte]): Unit =
      SpillableGroups.this.remove(keyOf(Record, key, 0L))
  }

  private def get(key: Array[Byte]): Array[Byte] =
    if (isSpilled) spilled.get(key) else onHeap.getOrElse(ByteBuffer.wrap(key), null)

  private def put(key: Array[Byte], value: Array[Byte]): Unit =
    if (isSpilled) {
      val _ = spilled.put(key, value)
    } else {
      onHeap.put(ByteBuffer.wrap(key), value).foreach(before => giveBack(key, before))
      if (!memory.take(heapBytes(key, value), onHeap.size)) {
        spill()
        memory.giveBackAll()
      }
    }

  private def remove(key: Array[Byte]): Unit =
    if (isSpilled) {
      val _ = spilled.remove(key)
    } else onHeap.remove(ByteBuffer.wrap(key)).foreach(before => giveBack(key, before))

  private def giveBack(key: Array[Byte], value: Array[Byte]): Unit =
    memory.giveBack(heapBytes(key, value))

  private def spill(): Unit = if (!isSpilled) {
    SpillFile.countMoved(memory.bytes)
    onHeap.foreachEntry { (key, value) =>
      val _ = spilled.put(key.array, value)
    }
    onHeap = mutable.HashMap.empty
    isSpilled = true
  }

  private final class OfOpenGroup(kind: Byte) extends Segments {
    override def get(number: Long): Array[Byte] =
      SpillableGroups.this.get(keyOf(kind, group, number))
    override def put(number: Long, bytes: Array[Byte]): Unit =
      SpillableGroups.this.put(keyOf(kind, group, number), bytes)
    override def remove(number: Long): Unit =
      SpillableGroups.this.remove(keyOf(kind, group, number))
  }
}

private object SpillableGroups {
  private val Value: Byte = 0
  private val Window: Byte = 1
  private val Waiting: Byte = 2
  private val Record: Byte = 3

  /** The kind, the bytes of a group, and a number. All keys of a kind end with a number, so no
    * two of them are the same.
    */
  private def keyOf(kind: Byte, group: Array[Byte], number: Long): Array[Byte] = {
    val key = Arrays.copyOf(group, group.length + java.lang.Long.BYTES + 1)
    Bytes.putLong(key, group.length, java.lang.Long.reverseBytes(number))
    key(key.length - 1) = kind
    key
  }

  /** The bytes of an entry on the heap, with its objects. */
  private def heapBytes(key: Array[Byte], value: Array[Byte]): Long =
    key.length.toLong + value.length + 160L
}
