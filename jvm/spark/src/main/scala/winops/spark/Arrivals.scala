package winops.spark

import org.apache.spark.sql.catalyst.expressions._

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
  private val columnsOf = UnsafeProjection.create(plan.waitingColumns, input)

  /** The next row that is taken, with the columns of one that waits, or null. */
  def next(rows: GroupedRows): UnsafeRow = {
    var taken: UnsafeRow = null
    while (taken == null && rows.hasNext) {
      val row = rows.next()
      if (timeOrdinal < 0) taken = row
      else if (row.isNullAt(timeOrdinal)) dropNullTime()
      else if (row.getLong(timeOrdinal) < lateBefore) metrics.late += 1
      else taken = row
    }
    if (taken == null) null else columnsOf(taken)
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
