package winops.spark.testing

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.state.GroupStore
import winops.storage.btree.PageMemory
import winops.storage.bytes.{ByteReader, ByteWriter, Segments}

/** Counts the reads and writes of another store. */
final class CountedGroupStore(store: GroupStore) extends GroupStore {
  private var values = 0
  private var bytes = 0L

  /** The number of values read, written and removed since the last [[reset]]. */
  def valuesTouched: Int = values

  /** The number of bytes read and written since the last [[reset]]. */
  def bytesTouched: Long = bytes

  def reset(): Unit = {
    values = 0
    bytes = 0L
  }

  override def pageMemory: PageMemory = store.pageMemory

  override def open(key: UnsafeRow): ByteReader = {
    val in = store.open(key)
    touch(if (in == null) 0 else in.remaining)
    in
  }

  override def save(write: ByteWriter => Unit): Unit = store.save { out =>
    write(out)
    touch(out.toArray.length)
  }

  override def remove(): Unit = {
    touch(0)
    store.remove()
  }

  override val windowSegments: Segments = new Counted(store.windowSegments)
  override val waitingSegments: Segments = new Counted(store.waitingSegments)

  private def touch(length: Int): Unit = {
    values += 1
    bytes += length
  }

  private final class Counted(segments: Segments) extends Segments {
    override def get(number: Long): Array[Byte] = {
      val found = segments.get(number)
      touch(if (found == null) 0 else found.length)
      found
    }

    override def put(number: Long, bytes: Array[Byte]): Unit = {
      touch(bytes.length)
      segments.put(number, bytes)
    }

    override def remove(number: Long): Unit = {
      touch(0)
      segments.remove(number)
    }
  }
}
