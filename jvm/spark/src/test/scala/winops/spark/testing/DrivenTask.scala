package winops.spark.testing

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, JoinedRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.execution.{GroupTask, OperatorTask}
import winops.spark.group.BatchTimes
import winops.spark.input.GroupedRows
import winops.spark.internal.KeepMetrics
import winops.spark.plan.{Keep, KeepPlan, OperatorPlan, Output, OverPlan}
import winops.spark.row.{KeyHash, RowShape}
import winops.spark.state.{GroupStore, NoGroupStore, PartitionState, StateIdentity, StoredPartitionState, TransientGroupStore, TransientPartitionState, WholeGroupStore}
import winops.storage.btree.PageMemory
import winops.window.crossgroup.HeapRecords

/** A row of [[KeepPlans]]; `micros` is its time. */
final case class Arrived(k: Long, micros: Option[Long], n: Long, text: String = "")

/** A change that a task emitted, of a row of [[KeepPlans]]. */
final case class Changed(
    kind: String,
    at: Option[Long],
    step: Long,
    sequence: Long,
    row: Arrived,
    window: String = "",
    reason: String = "")

/** Runs one task of an operator from batch to batch as the streaming operator does: each batch
  * creates all objects anew except for `store` and `partitionSegments`.
  *
  * @param seenAs
  *   maps stored bytes to the bytes that the task reads
  * @param before
  *   the task whose state is continued
  * @param pageBytes
  *   the bound of the loaded pages
  */
final class DrivenTask(
    val plan: OperatorPlan,
    seenAs: Array[Byte] => Array[Byte] = identity,
    before: Option[DrivenTask] = None,
    pageBytes: Long = PageMemory.DefaultBytes) {
  val store: TransientGroupStore = before.fold(new TransientGroupStore(pageBytes))(_.store)
  val counted = new CountedGroupStore(store)

  /** The segments of the partition, which belong to no group. */
  val partitionSegments: MapSegments = before.fold(new MapSegments)(_.partitionSegments)

  /** The records of groups that depend on each other. */
  val records: HeapRecords = before.fold(new HeapRecords)(_.records)

  private val stored = new AlteredGroupStore(counted, seenAs)
  private val identity = StateIdentity.of(plan)
  private val hashOf = KeyHash(plan.keys, plan.keys)
  private val counters = DrivenTask.counters
  private var due = Long.MaxValue
  private var held = 0L
  private var waiting = 0L
  private var groups = 0L

  def metric(name: String): Long = counters(name).value
  def earliestDue: Long = due
  def rowsHeld: Long = held
  def groupsRemembered: Long = groups

  /** The number of input rows whose fate the metrics tell: they have entered each of `windows`
    * windows, updated or deleted a row, had no effect, or wait for the watermark. Rows that wait
    * for a trigger of their window are held, and not among them.
    */
  def rowsAccountedFor(windows: Int = 1): Long =
    metric("rowsInserted") / windows + DrivenTask.OtherFates.map(metric).sum + waiting

  /** Continues the state with another plan, as after a restart. */
  def restarted(plan: OperatorPlan): DrivenTask = new DrivenTask(plan, seenAs, Some(this))

  /** Runs a batch of a stream without a time column. */
  def batchAt(timestamp: Long)(rows: Arrived*): Seq[Changed] =
    run(rows, BatchTimes.ofBatch(timestamp))(DrivenTask.changed(plan, _))

  /** Runs a batch of a stream whose watermark advances from `late` to `now`. */
  def batch(late: Long, now: Long)(rows: Arrived*): Seq[Changed] =
    run(rows, BatchTimes.ofWatermarks(late, now))(DrivenTask.changed(plan, _))

  /** Runs a first batch in which the rows of a table precede those of the stream. */
  def batchAfter(history: Seq[Arrived], times: BatchTimes)(rows: Arrived*): Seq[Changed] = {
    val ofHistory = Some(KeepPlans.ofHistory)
    val first = plan match {
      case keep: KeepPlan => keep.copy(ofHistory = ofHistory)
      case over: OverPlan => over.copy(ofHistory = ofHistory)
    }
    val input = KeepPlans.input :+ KeepPlans.ofHistory
    val all = DrivenTask.groupedAfter(first, input, history, rows)
    run(first, input, all, times)(DrivenTask.changed(plan, _))
  }

  /** Runs a batch; `read` receives each output row. */
  def run[A](rows: Seq[Arrived], times: BatchTimes)(read: InternalRow => A): Seq[A] =
    run(plan, KeepPlans.input, DrivenTask.grouped(plan, rows), times)(read)

  private def run[A](
      plan: OperatorPlan,
      input: Seq[Attribute],
      rows: GroupedRows,
      times: BatchTimes)(read: InternalRow => A): Seq[A] = {
    val ofPartition = new AlteredSegments(partitionSegments, seenAs)
    val timers = new StoredPartitionState(
      ofPartition,
      identity,
      plan.keys.size,
      times.now,
      plan.spec.idleMillis,
      store.all.iterator,
      RowShape.of(plan.keys),
      hashOf(_) ^ Long.MinValue,
      options = plan.spec.restart,
      historyRead = times.history)
    val metrics = new KeepMetrics(counters)
    val task = OperatorTask.of(
      plan,
      input,
      rows,
      times.in(timers),
      stored,
      new WholeGroupStore(ofPartition),
      new AlteredRecords(records, seenAs),
      timers,
      metrics)
    val taken = task.map(read).toVector
    timers.save()
    due = timers.earliestDue
    held = timers.rowsHeld
    waiting = timers.rowsWaiting
    groups = timers.groupsRemembered
    taken
  }
}

object DrivenTask {

  /** The metrics of rows that did not enter a window. */
  private val OtherFates = Seq(
    "rowsUpdated",
    "rowsRemoved",
    "rowsRefused",
    "rowsNotHeld",
    "rowsLookedUp",
    "rowsNullTime",
    "rowsAfterFinal",
    "rowsEvictedSilently",
    "numRowsDroppedByWatermark")

  /** The changes of a table with these rows, whose time ends at `end`. */
  def table(plan: OperatorPlan, rows: Seq[Arrived], end: Option[Long]): Seq[Changed] = {
    val metrics = new KeepMetrics(counters)
    task(
      plan,
      rows,
      BatchTimes.ofTable(end),
      new NoGroupStore,
      new TransientPartitionState(metrics),
      metrics)
      .map(changed(plan, _))
      .toVector
  }

  /** The final contents of a table with these rows. */
  def content(plan: KeepPlan, rows: Seq[Arrived], end: Option[Long]): Seq[Arrived] = {
    val rowsOnly = plan.copy(spec = plan.spec.copy(output = Output.Rows), changeColumns = Nil)
    val metrics = new KeepMetrics(counters)
    task(
      rowsOnly,
      rows,
      BatchTimes.ofTable(end),
      new NoGroupStore,
      new TransientPartitionState(metrics),
      metrics)
      .map(arrived(_, 0))
      .toVector
  }

  /** New metrics with the value 0. */
  def counters: Map[String, SQLMetric] =
    (KeepMetrics.own.map(_._1) ++ Seq("numOutputRows", "numRowsDroppedByWatermark"))
      .map(_ -> new SQLMetric("sum"))
      .toMap

  private def task(
      plan: OperatorPlan,
      rows: Seq[Arrived],
      times: BatchTimes,
      store: GroupStore,
      timers: PartitionState,
      metrics: KeepMetrics): GroupTask =
    GroupTask.of(plan, KeepPlans.input, grouped(plan, rows), times, store, timers, metrics)

  /** The rows of one task. */
  def grouped(plan: OperatorPlan, rows: Seq[Arrived]): GroupedRows = GroupedRows(
    plan,
    KeepPlans.input,
    KeepPlans.inInputOrder(plan, rows.zipWithIndex.map { case (row, i) => unsafe(row, i) }))

  /** The rows of one task, of which the first are those of a table. */
  private def groupedAfter(
      plan: OperatorPlan,
      input: Seq[Attribute],
      history: Seq[Arrived],
      rows: Seq[Arrived]): GroupedRows = {
    val joiner =
      UnsafeProjection.create(KeepPlans.input :+ KeepPlans.ofHistory, input)
    def marked(rows: Seq[Arrived], isOfHistory: Boolean): Seq[UnsafeRow] =
      rows.zipWithIndex.map { case (row, i) =>
        joiner(new JoinedRow(unsafe(row, i), InternalRow(isOfHistory))).copy()
      }
    val all = marked(rows, isOfHistory = false) ++ marked(history, isOfHistory = true)
    GroupedRows(plan, input, KeepPlans.inInputOrder(plan, all, input))
  }

  private val toUnsafe =
    UnsafeProjection.create(KeepPlans.input.map(_.dataType).toArray[DataType])

  private def unsafe(row: Arrived, position: Int): UnsafeRow = toUnsafe(
    InternalRow(
      row.k,
      row.micros.map(Long.box).orNull,
      row.n,
      UTF8String.fromString(row.text),
      position.toLong)).copy()

  private def changed(plan: OperatorPlan, row: InternalRow): Changed = {
    val from = plan.changeColumns.size
    def has(column: String) = plan.changeColumns.exists(_.name == column)
    Changed(
      row.getString(0),
      Option.when(!row.isNullAt(1))(row.getLong(1) / 1000),
      row.getLong(2),
      row.getLong(3),
      arrived(row, from),
      if (has(Keep.Window)) row.getString(4) else "",
      if (has(Keep.ChangeReason)) row.getString(from - 1) else "")
  }

  private def arrived(row: InternalRow, from: Int): Arrived = Arrived(
    row.getLong(from),
    Option.when(!row.isNullAt(from + 1))(row.getLong(from + 1)),
    row.getLong(from + 2),
    row.getString(from + 3))
}
