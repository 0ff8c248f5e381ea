package winops.spark

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.log.{ByteReader, ByteWriter, Segments}

/** Groups in the form of a state store's entries, on the heap. It asserts what a store relies on:
  * that a group leaves nothing behind when it is forgotten.
  */
final class HeapGroupStore extends GroupStore {
  private final class Entry {
    var content: Array[Byte] = _
    val window = new MapSegments
    val waiting = new MapSegments
  }

  private val entries = mutable.Map.empty[UnsafeRow, Entry]
  private var group: UnsafeRow = _

  /** What belongs to the partition and to no group. */
  val partition = new MapSegments

  def all: Seq[UnsafeRow] =
    entries.collect { case (key, entry) if entry.content != null => key }.toSeq

  override def open(key: UnsafeRow): ByteReader = {
    group = key.copy()
    entries.get(group).filter(_.content != null).fold[ByteReader](null) { entry =>
      new ByteReader(entry.content)
    }
  }

  override val windowSegments: Segments = new OfOpenGroup(_.window)
  override val waitingSegments: Segments = new OfOpenGroup(_.waiting)

  override def save(write: ByteWriter => Unit): Unit = {
    val out = new ByteWriter
    write(out)
    entry.content = out.toArray
  }

  override def remove(): Unit =
    entries.remove(group).foreach { entry =>
      assert(entry.window.numbers.isEmpty && entry.waiting.numbers.isEmpty)
    }

  private def entry: Entry = entries.getOrElseUpdate(group, new Entry)

  private final class OfOpenGroup(select: Entry => Segments) extends Segments {
    override def get(number: Long): Array[Byte] = select(entry).get(number)
    override def put(number: Long, bytes: Array[Byte]): Unit = select(entry).put(number, bytes)
    override def remove(number: Long): Unit = select(entry).remove(number)
  }
}
