package winops.spark.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.storage.btree.PageMemory
import winops.storage.bytes.{ByteReader, ByteWriter, HeapSegments, Segments}

/** Stores the groups of a task between its micro-batches. One group is open at a time. */
trait GroupStore {

  /** Opens a group and returns its stored value, or null if it has none. The store holds `key`
    * until the next call.
    */
  def open(key: UnsafeRow): ByteReader

  /** Sealed segments with the rows in the open group's window. */
  def windowSegments: Segments

  /** Sealed segments with the rows of the open group that wait for the watermark. */
  def waitingSegments: Segments

  /** Bounds the loaded pages of the task's groups. */
  def pageMemory: PageMemory

  /** Stores what `write` writes as the value of the open group. */
  def save(write: ByteWriter => Unit): Unit

  /** Removes the value of the open group. */
  def remove(): Unit
}

/** The group store of a table outside of a Spark task. Each group is opened once, and its
  * segments are on the heap until it is saved or removed.
  */
final class NoGroupStore(override val pageMemory: PageMemory = new PageMemory)
    extends GroupStore {
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
