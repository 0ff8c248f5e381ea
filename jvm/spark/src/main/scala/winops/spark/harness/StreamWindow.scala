package winops.spark.harness

import scala.collection.mutable
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.sql.catalyst.InternalRow

import winops.spark.execution.OperatorTask
import winops.spark.group.BatchTimes
import winops.spark.internal.KeepMetrics
import winops.spark.row.{KeyHash, RowShape}
import winops.spark.state.{StateIdentity, StoredPartitionState, TransientGroupStore, WholeGroupStore}
import winops.storage.bytes.HeapSegments
import winops.window.crossgroup.HeapRecords

/** Runs a window over a stream, with the task of the streaming operator. Between micro-batches
  * all state is stored, on the heap. A call that fails changes nothing.
  */
private[harness] final class StreamWindow(window: WindowPlan) {
  private val plan = window.plan
  private val identity = StateIdentity.of(plan)
  private val hash = KeyHash(plan.keys, plan.keys)
  private val done = mutable.Buffer.empty[StreamWindow.MicroBatch]
  private var state = new State

  /** Writes the number of bytes that the groups store now, and the metrics that are not 0: the
    * sums over all micro-batches, and the rows and groups that are held now.
    */
  def write(reply: ObjectNode): Unit = {
    reply.put("bytes", state.store.bytes)
    val metrics = reply.putObject("metrics")
    (state.counters.values ++ state.held).foreach { case (name, value) =>
      metrics.put(name, value)
    }
  }

  /** The groups as they are stored now. */
  def store: TransientGroupStore = state.store

  /** Runs a micro-batch of a window that gives changes.
    *
    * @param now
    *   the timestamp of the micro-batch or, with a time column, the watermark, in milliseconds
    */
  def changes(json: Seq[JsonNode], now: Long): Seq[WindowChange] =
    run(json, now, isLast = false, WindowChange.of(plan, _))

  /** Runs a micro-batch. After the end of the input, further ones apply the rows that wait.
    *
    * @param isLast
    *   true if the input has ended
    * @param read
    *   reads an output row, which is valid until the next one
    */
  def run[A](json: Seq[JsonNode], now: Long, isLast: Boolean, read: InternalRow => A): Seq[A] = {
    val before = done.size
    try {
      val times =
        if (plan.time.isEmpty) BatchTimes.ofBatch(now)
        else BatchTimes.ofWatermarks(state.watermark, now)
      val output = run(StreamWindow.MicroBatch(json, times, now), read)
      if (isLast && plan.time.isDefined) output ++ finish(read) else output
    } catch {
      case NonFatal(error) =>
        // The task has changed the state in part. State is as it was after the same micro-batches.
        val restored = done.take(before).toVector
        done.clear()
        state = new State
        window.restart()
        restored.foreach(run(_, _ => ()))
        throw error
    }
  }

  /** Finds the last of the rows that wait, then applies them. */
  private def finish[A](read: InternalRow => A): Seq[A] = {
    val found = flush(state.watermark, read)
    if (state.lastWaiting == Long.MinValue) found
    else found ++ flush(state.lastWaiting, read)
  }

  private def flush[A](now: Long, read: InternalRow => A): Seq[A] = {
    val times = BatchTimes.ofWatermarks(state.watermark, now).atEnd
    run(StreamWindow.MicroBatch(Nil, times, now), read)
  }

  private def run[A](batch: StreamWindow.MicroBatch, read: InternalRow => A): Seq[A] = {
    val output = state.run(batch, read)
    done += batch
    output
  }

  private final class State {
    val store = new TransientGroupStore
    val counters: Metrics = Metrics.create()
    var held = Map.empty[String, Long]
    var watermark = 0L
    var lastWaiting = Long.MinValue
    private val segments = new HeapSegments
    private val records = new HeapRecords

    def run[A](batch: StreamWindow.MicroBatch, read: InternalRow => A): Seq[A] = {
      watermark = batch.now
      val partition = new StoredPartitionState(
        segments,
        identity,
        plan.keys.size,
        batch.times.now,
        plan.spec.idleMillis,
        store.all.iterator,
        RowShape.of(plan.keys),
        hash(_) ^ Long.MinValue,
        takesAll = batch.times.flushes,
        isFlushed = batch.times.flushes)
      val task = OperatorTask.of(
        plan,
        window.input,
        window.grouped(window.read(batch.json)),
        batch.times,
        store,
        new WholeGroupStore(segments),
        records,
        partition,
        counters.ofTask)
      val output = task.map(read).toVector
      partition.save()
      held = Map(
        KeepMetrics.Held -> partition.rowsHeld,
        KeepMetrics.Waiting -> partition.rowsWaiting,
        KeepMetrics.Groups -> partition.groupsRemembered).filter(_._2 > 0)
      lastWaiting = task.lastWaiting
      output
    }
  }
}

private object StreamWindow {

  /** The input of a micro-batch.
    *
    * @param now
    *   the timestamp or, with a time column, the watermark, in milliseconds
    */
  final case class MicroBatch(json: Seq[JsonNode], times: BatchTimes, now: Long)
}
