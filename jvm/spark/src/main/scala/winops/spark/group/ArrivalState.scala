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

  /** The rows of a table before the stream that wait and have no output. They have their own log,
    * because the rows themselves do not say where they are from.
    */
  val history: WaitingLog = storage.historyLog

  /** The number of rows that wait. */
  def size: Long = waiting.size + history.size

  /** The greatest time of a waiting row in milliseconds; `Long.MinValue` if no row waits. */
  def lastTime: Long = Math.max(waiting.lastTime, history.lastTime)

  /** The greatest applied value of the order columns; empty before the first. */
  var lastOrder: Array[Byte] = NoOrder

  private def hasOrder: Boolean = lastOrder.length > 0

  /** The time after which a waiting row is released; [[Clock.Never]] if no row waits. */
  def nextRelease: Long = Math.min(releaseOf(waiting), releaseOf(history))

  private def releaseOf(log: WaitingLog): Long =
    if (log.size == 0) Clock.Never else Clock.floorToMillis(log.firstTime) + 1

  def clear(): Unit = {
    waiting.clear()
    history.clear()
    lastOrder = NoOrder
  }

  /** The form in which [[save]] writes, a number below 16. */
  def kind: Int =
    (if (history.size == 0) waiting.kind else BothLogs) * 2 + (if (hasOrder) 1 else 0)

  /** Writes the rows and the order.
    *
    * @param clock
    *   the clock of the group in milliseconds, near the times of the rows
    */
  def save(out: ByteWriter, clock: Long): Unit = {
    if (hasOrder) out.packed(lastOrder)
    if (plan.spec.rowsWait) {
      if (history.size > 0) {
        out.byte(waiting.kind * KindsOfLog + history.kind)
        history.save(out, clock)
      }
      waiting.save(out, clock)
    }
  }

  /** Restores what was written with this kind and clock. */
  def restore(in: ByteReader, kind: Int, clock: Long): Unit = {
    lastOrder = if (kind % 2 == 1) in.packed() else NoOrder
    if (!plan.spec.rowsWait) waiting.clear()
    else if (kind / 2 == BothLogs) {
      val kinds = in.byte()
      history.restore(in, kinds % KindsOfLog, clock)
      waiting.restore(in, kinds / KindsOfLog, clock)
    } else {
      history.clear()
      waiting.restore(in, kind / 2, clock)
    }
  }
}

object ArrivalState {
  val NoOrder: Array[Byte] = Array.emptyByteArray

  /** The forms in which a [[WaitingLog]] writes its rows are below this number. */
  private val KindsOfLog = 7

  /** Instead of the form of one log: those of two in one byte, the history, and the other rows.
    */
  private val BothLogs = 7
}
