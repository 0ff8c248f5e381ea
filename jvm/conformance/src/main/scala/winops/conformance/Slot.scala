package winops.conformance

import winops.log.{ByteReader, ByteWriter, HeapSegments, RowLog, Segments}
import winops.policy.Policy
import winops.window.{ChangeQueue, Machine}

/** The machine, the rows and the changes of one group at a time; a slot is reused as the groups
  * come and go, with whatever the last one left behind in its buffers.
  */
private[conformance] final class Slot(policy: Policy) {
  private var kept = new HeapSegments

  private object segments extends Segments {
    override def get(number: Long): Array[Byte] = kept.get(number)
    override def put(number: Long, bytes: Array[Byte]): Unit = kept.put(number, bytes)
    override def remove(number: Long): Unit = kept.remove(number)
  }

  val log = new RowLog(segments, policy.usesTime)
  val changes = new ChangeQueue
  val machine = new Machine(policy, Machine.Never, log, changes)
  private val writer = new ByteWriter

  /** Starts with a group that has no rows yet. */
  def clear(): Unit = {
    kept = new HeapSegments
    log.clear()
    machine.clear()
  }

  /** What is to be stored of the group; its changes must all have been read. */
  def save(): Slot.Saved = {
    writer.clear()
    log.save(writer)
    machine.save(writer)
    Slot.Saved(writer.toArray, kept)
  }

  /** Takes up a group that was saved. */
  def restore(saved: Slot.Saved): Unit = {
    kept = saved.segments
    val reader = new ByteReader(saved.bytes)
    log.restore(reader)
    machine.restore(reader, log.first)
    require(reader.remaining == 0, s"${reader.remaining} stored bytes were not read")
  }
}

private[conformance] object Slot {

  /** A group's own value, and the segments that stand beside it. */
  final case class Saved(bytes: Array[Byte], segments: HeapSegments)
}
