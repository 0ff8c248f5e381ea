package winops.spark.execution

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.state.GroupStore
import winops.storage.btree.PageMemory
import winops.storage.bytes.{ByteReader, ByteWriter, Segments}

/** The group store of a table. Each group is opened once, and its segments are kept until it is
  * saved or removed, in a temporary file if they are large.
  *
  * @param limit
  *   number of bytes on the heap at most, whatever Spark grants
  */
private[execution] final class SpillableGroupStore(
    override val pageMemory: PageMemory,
    limit: Long = Long.MaxValue)
    extends GroupStore {
  private val window = new SpillableSegments(limit)
  private val waiting = new SpillableSegments(limit)

  override def open(key: UnsafeRow): ByteReader = null
  override def windowSegments: Segments = window
  override def waitingSegments: Segments = waiting
  override def save(write: ByteWriter => Unit): Unit = remove()

  override def remove(): Unit = {
    window.clear()
    waiting.clear()
  }
}
