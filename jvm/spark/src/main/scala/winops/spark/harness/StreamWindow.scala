package winops.spark.harness

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.sql.catalyst.InternalRow

import winops.spark.execution.StreamTask
import winops.spark.group.BatchTimes
import winops.spark.row.{KeyHash, RowShape}
import winops.spark.state.{StateIdentity, StateTimerService, TransientGroupStore, WholeGroupStore}
import winops.storage.bytes.HeapSegments
import winops.window.crossgroup.HeapRecords

/** Runs a window over a stream, with the task of the streaming operator. Between micro-batches
  * all state is stored, on the heap.
  */
private[harness] final class StreamWindow(window: WindowPlan) {
  private val plan = window.plan
  private val identity = StateIdentity.of(plan)
  private val hash = KeyHash(plan.keys, plan.keys)
  private val store = new TransientGroupStore
  private val segments = new HeapSegments
  private val records = new HeapRecords
  private val counters = Metrics.create()
  private var watermark = 0L
  private var lastWaiting = Long.MinValue

  /** Writes the number of bytes that the groups store now, and the metrics of all micro-batches
    * that are not 0.
    */
  def write(reply: ObjectNode): Unit = {
    reply.put("bytes", store.bytes)
    val metrics = reply.putObject("metrics")
    counters.values.foreach { case (name, value) => metrics.put(name, value) }
  }

  /** Runs a micro-batch.
    *
    * @param now
    *   the timestamp of the micro-batch or, with a time column, the watermark, in milliseconds
    */
  def batch(json: Seq[JsonNode], now: Long): Seq[WindowChange] =
    batch(json, now, WindowChange.of(plan, _))

  /** Runs a micro-batch.
    *
    * @param read
    *   reads an output row, which is valid until the next one
    */
  def batch[A](json: Seq[JsonNode], now: Long, read: InternalRow => A): Seq[A] = {
    val times =
      if (plan.time.isEmpty) BatchTimes.ofBatch(now)
      else BatchTimes.ofWatermarks(watermark, now)
    run(json, times, now, read)
  }

  /** Runs the micro-batches after the end of the input: one finds the last of the rows that wait,
    * and one applies them.
    */
  def finish[A](read: InternalRow => A): Seq[A] =
    if (plan.time.isEmpty) Nil
    else {
      val found = flush(watermark, read)
      if (lastWaiting == Long.MinValue) found else found ++ flush(lastWaiting + 1, read)
    }

  private def flush[A](now: Long, read: InternalRow => A): Seq[A] =
    run(Nil, BatchTimes.ofWatermarksAtEnd(watermark, now), now, read)

  private def run[A](
      json: Seq[JsonNode],
      times: BatchTimes,
      now: Long,
      read: InternalRow => A): Seq[A] = {
    watermark = now
    val timers = new StateTimerService(
      segments,
      identity,
      plan.keys.size,
      times.now,
      plan.spec.idleMillis,
      store.all,
      RowShape.of(plan.keys),
      hash(_) ^ Long.MinValue,
      takesAll = times.flushes)
    val task = StreamTask.of(
      plan,
      window.input,
      window.grouped(window.read(json)),
      times,
      store,
      new WholeGroupStore(segments),
      records,
      timers,
      counters.ofTask)
    val output = task.map(read).toVector
    timers.save()
    lastWaiting = task.lastWaiting
    output
  }
}
