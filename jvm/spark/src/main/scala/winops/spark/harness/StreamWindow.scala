package winops.spark.harness

import com.fasterxml.jackson.databind.JsonNode

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

  /** The metrics of all micro-batches that are not 0. */
  def metrics: Map[String, Long] = counters.values

  /** The number of bytes that the groups store now. */
  def bytes: Long = store.bytes

  /** Runs a micro-batch.
    *
    * @param now
    *   the timestamp of the micro-batch or, with a time column, the watermark, in milliseconds
    */
  def batch(json: Seq[JsonNode], now: Long): Seq[WindowChange] = {
    val times =
      if (plan.time.isEmpty) BatchTimes.ofBatch(now)
      else BatchTimes.ofWatermarks(watermark, now)
    watermark = now
    val timers = new StateTimerService(
      segments,
      identity,
      plan.keys.size,
      times.now,
      plan.spec.idleMillis,
      store.all,
      RowShape.of(plan.keys),
      hash(_) ^ Long.MinValue)
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
    val changes = task.map(WindowChange.of(plan, _)).toVector
    timers.save()
    changes
  }
}
