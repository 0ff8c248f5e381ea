package winops.spark.execution

import scala.collection.mutable

import org.apache.spark.sql.winops.execution.SpillFile
import org.apache.spark.sql.winops.internal.SpillableMemory

import winops.storage.bytes.Segments

/** Stores segments on the heap while Spark grants the task memory for them. After that, all
  * segments are in a temporary file until [[clear]].
  *
  * @param limit
  *   number of bytes on the heap at most, whatever Spark grants
  */
private[execution] final class SpillableSegments(limit: Long = Long.MaxValue) extends Segments {
  import SpillableSegments._

  private val onHeap = mutable.LongMap.empty[Array[Byte]]
  private val spilled = new SpilledSegments
  private var isSpilled = false
  private val memory = new SpillableMemory(() => spill(), limit)

  override def get(number: Long): Array[Byte] =
    if (isSpilled) spilled.get(number) else onHeap.getOrNull(number)

  override def put(number: Long, bytes: Array[Byte]): Unit =
    if (isSpilled) spilled.put(number, bytes)
    else {
      val before = onHeap.getOrNull(number)
      if (before != null) memory.giveBack(heapBytes(before))
      onHeap.update(number, bytes)
      if (!memory.take(heapBytes(bytes), onHeap.size)) {
        spill()
        memory.giveBackAll()
      }
    }

  override def remove(number: Long): Unit =
    if (isSpilled) spilled.remove(number)
    else onHeap.remove(number).foreach(bytes => memory.giveBack(heapBytes(bytes)))

  /** Removes all segments. The next ones are on the heap again. */
  def clear(): Unit = {
    if (isSpilled) spilled.clear()
    isSpilled = false
    onHeap.clear()
    memory.giveBack(memory.bytes)
  }

  private def spill(): Unit = if (!isSpilled) {
    SpillFile.countMoved(memory.bytes)
    onHeap.foreachEntry((number, bytes) => spilled.put(number, bytes))
    onHeap.clear()
    // A cleared map keeps its arrays.
    onHeap.repack()
    isSpilled = true
  }
}

private object SpillableSegments {

  /** The bytes of a segment on the heap, with its header and its place in the map. */
  def heapBytes(segment: Array[Byte]): Long = segment.length + 48L
}
