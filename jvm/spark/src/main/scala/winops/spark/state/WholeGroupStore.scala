package winops.spark.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.storage.btree.PageMemory
import winops.storage.bytes.{ByteReader, ByteWriter, Segments, ShiftedSegments}

/** Stores the cross-group state of a partition among the partition's own segments. */
final class WholeGroupStore(
    partition: Segments,
    override val pageMemory: PageMemory = new PageMemory)
    extends GroupStore {
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

private[spark] object WholeGroupStore {

  /** Returns true if the partition has cross-group state. */
  def isIn(partition: Segments): Boolean = partition.get(Number) != null

  val Number: Long = 1L << 58
  val FirstWindowSegment: Long = 1L << 59
  val FirstWaitingSegment: Long = 1L << 61
}
