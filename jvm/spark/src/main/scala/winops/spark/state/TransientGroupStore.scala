package winops.spark.state

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.storage.btree.PageMemory
import winops.storage.bytes.{ByteReader, ByteWriter, HeapSegments, Segments}

/** Stores groups on the heap, for a query without state.
  *
  * @param pageBytes
  *   the bound of the loaded pages of each reader of [[pageMemory]]
  */
final class TransientGroupStore(pageBytes: Long = PageMemory.DefaultBytes) extends GroupStore {
  private val groups = mutable.Map.empty[UnsafeRow, TransientGroupStore.Entry]
  private var key: UnsafeRow = _

  override def open(key: UnsafeRow): ByteReader = {
    this.key = key.copy()
    groups
      .get(key)
      .filter(_.content != null)
      .fold[ByteReader](null)(e => new ByteReader(e.content))
  }

  // The tasks of several micro-batches use the same store one after the other.
  override def pageMemory: PageMemory = new PageMemory(pageBytes)

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

  /** Returns the keys of all saved groups. */
  def all: Seq[UnsafeRow] =
    groups.collect { case (key, entry) if entry.content != null => key }.toSeq

  /** The number of values and segments that are stored for all groups. */
  def values: Int = groups.valuesIterator.map(_.values).sum

  /** The number of bytes that are stored for all groups, without their keys. */
  def bytes: Long = groups.valuesIterator.map(_.bytes).sum

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

    def bytes: Long =
      (if (content == null) 0L else content.length.toLong) + window.bytes + waiting.bytes

    def values: Int = (if (content == null) 0 else 1) + window.size + waiting.size
  }
}
