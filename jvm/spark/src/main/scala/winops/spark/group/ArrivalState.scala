package winops.spark.group

import winops.spark.plan.OperatorPlan
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.time.Clock

/** The rows of a group that have arrived and not been applied, and the order of the last one that
  * has been.
  */
final class ArrivalState(plan: OperatorPlan, storage: GroupStorage) {
  import ArrivalState._

  /** The rows that wait for the watermark. */
  val waiting: WaitingLog = storage.waitingLog

  /** The greatest applied value of the order columns; empty before the first. */
  var lastOrder: Array[Byte] = NoOrder

  private def hasOrder: Boolean = lastOrder.length > 0

  /** The time after which a waiting row is released; [[Clock.Never]] if no row waits. */
  def nextRelease: Long =
    if (waiting.size == 0) Clock.Never else Clock.floorToMillis(waiting.firstTime) + 1

  def clear(): Unit = {
    waiting.clear()
    lastOrder = NoOrder
  }

  /** The form in which [[save]] writes, a number below 16. */
  def kind: Int = waiting.kind * 2 + (if (hasOrder) 1 else 0)

  /** Writes the rows and the order.
    *
    * @param clock
    *   the clock of the group in milliseconds, near the times of the rows
    */
  def save(out: ByteWriter, clock: Long): Unit = {
    if (hasOrder) out.packed(lastOrder)
    if (plan.spec.rowsWait) waiting.save(out, clock)
  }

  /** Restores what was written with this kind and clock. */
  def restore(in: ByteReader, kind: Int, clock: Long): Unit = {
    lastOrder = if (kind % 2 == 1) in.packed() else NoOrder
    if (plan.spec.rowsWait) waiting.restore(in, kind / 2, clock) else waiting.clear()
  }
}

object ArrivalState {
  val NoOrder: Array[Byte] = Array.emptyByteArray
}
