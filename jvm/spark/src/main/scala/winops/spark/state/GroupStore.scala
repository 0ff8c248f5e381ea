package winops.spark.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.storage.bytes.{ByteReader, ByteWriter, HeapSegments, Segments}

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
