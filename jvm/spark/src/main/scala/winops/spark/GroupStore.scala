package winops.spark

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.log.{ByteReader, ByteWriter, HeapSegments, Segments, ShiftedSegments}

/** Where the groups of a task are between its batches. One group is open at a time. */
trait GroupStore {

  /** Takes up a group; null if nothing is remembered of it. The key is held until the next one.
    */
  def open(key: UnsafeRow): ByteReader

  /** Sealed rows of the open group that are in its window. */
  def windowSegments: Segments

  /** Sealed rows of the open group that wait for the watermark. */
  def waitingSegments: Segments

  /** Puts the open group away as what `write` writes. */
  def save(write: ByteWriter => Unit): Unit

  /** Forgets the open group. */
  def remove(): Unit
}

/** Groups of which one is open after the other, and each only once. */
final class NoGroupStore extends GroupStore {
  private val window = new HeapSegments
  private val waiting = new HeapSegments

  override def open(key: UnsafeRow): ByteReader = null
  override def windowSegments: Segments = window
  override def waitingSegments: Segments = waiting
  override def save(write: ByteWriter => Unit): Unit = remove()

  override def remove(): Unit = {
    window.clear()
    waiting.clear()
  }
}

/** Groups on the heap, of a query that keeps no state. */
final class TransientGroupStore extends GroupStore {
  private val groups = mutable.Map.empty[UnsafeRow, TransientGroupStore.Entry]
  private var key: UnsafeRow = _

  override def open(key: UnsafeRow): ByteReader = {
    this.key = key.copy()
    groups
      .get(key)
      .filter(_.content != null)
      .fold[ByteReader](null)(e => new ByteReader(e.content))
  }

  override val windowSegments: Segments = new OfOpenGroup(_.window)
  override val waitingSegments: Segments = new OfOpenGroup(_.waiting)

  override def save(write: ByteWriter => Unit): Unit = {
    val out = new ByteWriter
    write(out)
    entry.content = out.toArray
  }

  override def remove(): Unit = groups.get(key).foreach { entry =>
    entry.content = null
    if (entry.values == 0) groups.remove(key)
  }

  /** The groups that have been put away. */
  def all: Seq[UnsafeRow] =
    groups.collect { case (key, entry) if entry.content != null => key }.toSeq

  /** How many values are kept for all groups. */
  def values: Int = groups.valuesIterator.map(_.values).sum

  private def entry: TransientGroupStore.Entry =
    groups.getOrElseUpdate(key, new TransientGroupStore.Entry)

  private final class OfOpenGroup(select: TransientGroupStore.Entry => Segments)
      extends Segments {
    override def get(number: Long): Array[Byte] = select(entry).get(number)
    override def put(number: Long, bytes: Array[Byte]): Unit = select(entry).put(number, bytes)
    override def remove(number: Long): Unit = select(entry).remove(number)
  }
}

private object TransientGroupStore {
  final class Entry {
    var content: Array[Byte] = _
    val window = new HeapSegments
    val waiting = new HeapSegments

    def values: Int = (if (content == null) 0 else 1) + window.size + waiting.size
  }
}

/** What belongs to all groups of a partition together, among what belongs to the partition. */
final class WholeGroupStore(partition: Segments) extends GroupStore {
  import WholeGroupStore._

  override def open(key: UnsafeRow): ByteReader = {
    val bytes = partition.get(Number)
    if (bytes == null) null else new ByteReader(bytes)
  }

  override val windowSegments: Segments = new ShiftedSegments(partition, FirstWindowSegment)
  override val waitingSegments: Segments = new ShiftedSegments(partition, FirstWaitingSegment)

  override def save(write: ByteWriter => Unit): Unit = {
    val out = new ByteWriter
    write(out)
    partition.put(Number, out.toArray)
  }

  override def remove(): Unit = partition.remove(Number)
}

private object WholeGroupStore {

  /** Whether there is something that belongs to all groups together. */
  def isIn(partition: Segments): Boolean = partition.get(Number) != null

  val Number: Long = 1L << 58
  val FirstWindowSegment: Long = 1L << 59
  val FirstWaitingSegment: Long = 1L << 61
}
