package winops.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.unsafe.Platform

/** The rows of the open group that are applied in this batch, in order. */
trait Arrivals {

  /** Starts with a group, of which `rows` came in this batch. */
  def open(rows: GroupedRows): Unit

  def hasNext: Boolean

  /** The next row's content; valid until the next call of any method. */
  def next(): UnsafeRow
}

/** The rows of a batch without those that cannot be taken: late ones, and ones without a time. */
final class Admission(
    plan: KeepPlan,
    input: Seq[Attribute],
    clock: BatchClock,
    metrics: KeepMetrics) {
  private val timeOrdinal = plan.timeOrdinal
  private val lateBefore = Micros.of(clock.lateBefore)
  private val contentOf = UnsafeProjection.create(plan.content, input)

  /** The next row that is taken, or null. */
  def next(rows: GroupedRows): UnsafeRow = {
    var taken: UnsafeRow = null
    while (taken == null && rows.hasNext) {
      val row = rows.next()
      if (timeOrdinal < 0) taken = row
      else if (row.isNullAt(timeOrdinal)) dropNullTime()
      else if (row.getLong(timeOrdinal) < lateBefore) metrics.late += 1
      else taken = row
    }
    if (taken == null) null else contentOf(taken)
  }

  private def dropNullTime(): Unit =
    if (plan.spec.dropNullTime) metrics.nullTime += 1
    else {
      throw WinopsErrors.runtime("WINOPS_NULL_TIME", "column" -> plan.time.fold("")(_.name))
    }
}

/** Rows are applied as they come. */
final class ImmediateArrivals(
    plan: KeepPlan,
    admission: Admission,
    state: GroupState,
    metrics: KeepMetrics)
    extends Arrivals {
  private val order = new OrderWatch(plan)
  private var rows: GroupedRows = _
  private var ahead: UnsafeRow = _

  override def open(rows: GroupedRows): Unit = {
    this.rows = rows
    ahead = null
    order.open(state.lastOrder)
  }

  override def hasNext: Boolean = {
    if (ahead == null && rows != null) {
      ahead = admission.next(rows)
      if (ahead == null) {
        rows = null
        state.lastOrder = order.last
      } else if (order.isBehind(ahead)) metrics.outOfOrder += 1
    }
    ahead != null
  }

  override def next(): UnsafeRow = {
    val row = if (hasNext) ahead else throw new NoSuchElementException
    ahead = null
    row
  }
}

/** Tells which rows of a batch come behind rows of their group that were applied in earlier ones. */
private final class OrderWatch(plan: KeepPlan) {
  private val active = plan.order.nonEmpty
  private val columns = plan.order.map(_.child)
  private val project = UnsafeProjection.create(columns, plan.content)
  private val ordering = {
    val values = plan.order.zipWithIndex.map { case (o, i) =>
      o.copy(child = BoundReference(i, o.child.dataType, o.child.nullable))
    }
    RowOrdering.create(values, Nil)
  }
  private val before = new UnsafeRow(columns.size)
  private var greatest: Array[Byte] = GroupState.NoOrder
  private var newest: UnsafeRow = _

  def open(last: Array[Byte]): Unit = {
    greatest = last
    newest = null
    if (last.nonEmpty) before.pointTo(last, Platform.BYTE_ARRAY_OFFSET, last.length)
  }

  /** Rows come in order, so that only the first ones of a batch can be behind. */
  def isBehind(row: UnsafeRow): Boolean =
    active && {
      val values = project(row)
      val behind = greatest.nonEmpty && ordering.compare(values, before) < 0
      if (!behind) newest = values
      behind
    }

  def last: Array[Byte] = if (newest == null) greatest else newest.getBytes
}

/** Rows wait until the watermark has passed them, and are applied in the order of time. */
final class OrderedArrivals(
    plan: KeepPlan,
    admission: Admission,
    state: GroupState,
    clock: BatchClock)
    extends Arrivals {
  private val timeOrdinal = plan.timeOrdinal
  private val releaseBefore = Micros.of(clock.releaseBefore)
  private val stamp = RowOrdering.create(plan.stamp, plan.content)

  private var rows: GroupedRows = _
  private var waited: Array[UnsafeRow] = Array.empty
  private var nextWaited = 0
  private var come: UnsafeRow = _
  private var ahead: UnsafeRow = _

  override def open(rows: GroupedRows): Unit = {
    this.rows = rows
    come = null
    ahead = null
    nextWaited = 0
    waited = if (state.firstWaiting < releaseBefore) takeWaiting() else Array.empty
  }

  override def hasNext: Boolean = {
    if (ahead == null && rows != null) {
      val row = choose()
      if (row != null && timeOf(row) < releaseBefore) {
        ahead = row
        if (row eq come) come = null else nextWaited += 1
      } else {
        putBack()
        rows = null
      }
    }
    ahead != null
  }

  override def next(): UnsafeRow = {
    val row = if (hasNext) ahead else throw new NoSuchElementException
    ahead = null
    row
  }

  /** The first in order of the rows that waited and those that came; who waited goes first. */
  private def choose(): UnsafeRow = {
    if (come == null) come = admission.next(rows)
    if (nextWaited == waited.length) come
    else {
      val first = waited(nextWaited)
      if (come == null || stamp.compare(first, come) <= 0) first else come
    }
  }

  private def putBack(): Unit = {
    while (nextWaited < waited.length) {
      wait(waited(nextWaited))
      nextWaited += 1
    }
    waited = Array.empty
    while (come != null) {
      wait(come)
      come = admission.next(rows)
    }
  }

  private def wait(row: UnsafeRow): Unit = {
    RowBytes.append(state.waiting, 0L, row)
    state.firstWaiting = Math.min(state.firstWaiting, timeOf(row))
    MaxRows.check(plan.spec, state)
  }

  private def takeWaiting(): Array[UnsafeRow] = {
    val log = state.waiting
    val taken = Array.tabulate((log.end - log.first).toInt) { i =>
      val row = new UnsafeRow(plan.content.size)
      RowBytes.pointTo(row, log, log.first + i)
      row.copy()
    }
    log.discard()
    state.firstWaiting = Long.MaxValue
    // Stable, so that of equal rows the one that came first stays first.
    java.util.Arrays.sort(taken, stamp)
    taken
  }

  private def timeOf(row: InternalRow): Long = row.getLong(timeOrdinal)
}
