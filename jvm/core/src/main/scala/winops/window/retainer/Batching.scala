package winops.window.retainer

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.changes.{ChangeQueue, ChangeReason}
import winops.window.contents.HeldRows
import winops.window.expression.WindowView
import winops.window.rules.{BatchTrigger, Batches, CombinedParts, EvictedRows, NeededValues}

/** Collects pending rows. A trigger inserts them together and deletes the rows of the previous
  * batch. Other windows, the filters, may evict pending rows, which emits nothing.
  *
  * @param before
  *   number of filters that the policy names before the batch window; they fire first at an
  *   instant
  * @param needed
  *   the values that a row must have
  * @param rows
  *   the rows of the last batch and the pending rows
  */
private[window] final class Batching(
    filters: CombinedParts,
    before: Int,
    needed: NeededValues,
    protected val trigger: BatchTrigger,
    protected val rows: HeldRows,
    changes: ChangeQueue)
    extends Retainer
    with Batches {
  private val evicted = new EvictedRows(byLast = false)

  override def due: Long = Math.min(trigger.due, filters.due)

  override def arrive(row: Long, at: Long): Boolean = {
    rows.entered()
    val isComplete = needed.areIn(row)
    if (!isComplete) rows.refused(row)
    isComplete && offer(row, at)
  }

  /** Offers the row to the filters and, if all of them admit the row, to the batch. Returns true
    * if all filters admit the row. Rows that the filters evict leave the batch in either case.
    */
  private def offer(row: Long, at: Long): Boolean = {
    evicted.clear()
    val comesIn = filters.offer(row, at, evicted) == filters.size
    if (!comesIn) {
      filters.takeBack(row)
      rows.refused(row)
    }
    dropFiltered(row, isThere = comesIn)
    checkLoss(at, row)
    if (comesIn && !evicted.contains(row)) join(row, at)
    comesIn
  }

  override def atDue(due: Long): Unit = {
    filterAtDue(due, 0, before)
    if (trigger.due <= due) postDue(due)
    filterAtDue(due, before, filters.size)
  }

  override def skipReports(until: Long): Long = {
    skipEmpty(0L, Math.min(until, filters.due - 1))
    0L
  }

  override def held: Long = rows.size
  override def notInserted: Long = pending

  /** Emits the pending rows. The rows of the last batch are not contents: the next batch deletes
    * them.
    */
  override def emitContents(): Unit = eachFrom(boundary, rows.end)(changes.content)

  override def emitInserted(): Unit = eachFrom(0L, boundary)(changes.content)

  override def report(kind: Int): Unit = changes.report(kind, rows.from(boundary), rows.end)

  override def leaveAll(reason: Int): Unit = {
    eachFrom(0L, boundary)(changes.deleteGroup(_, _, reason))
    eachFrom(0L, rows.end) { (row, _) =>
      val _ = rows.leave(row)
    }
  }

  override def settle(): Unit = rows.settle()

  override def clear(): Unit = {
    rows.startAfresh()
    clearBatches()
    filters.clear()
  }

  override def save(out: ByteWriter): Unit = {
    out.number(rows.size)
    saveBatches(out)
    filters.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    rows.restart(in.count(rows.end))
    restoreBatches(in)
    filters.restore(in)
  }

  private def filterAtDue(due: Long, from: Int, until: Int): Unit = {
    var i = from
    while (i < until) {
      if (filters(i).due <= due) {
        evicted.clear()
        filters(i).atDue(due, evicted)
        dropFiltered(WindowView.NoRow, isThere = false)
        checkLoss(due, rows.end)
      }
      i += 1
    }
  }

  /** Completes the batch, which ends before `until`, if the rows that the filters evicted make it
    * complete.
    */
  private def checkLoss(at: Long, until: Long): Unit =
    if (evicted.size > 0 && pending > 0) {
      val first = rows.from(boundary)
      if (trigger.isCompleteAfterLoss(first, rows.lastFrom(until - 1), pending)) postAt(at, until)
    }

  override protected def post(until: Long): Boolean = {
    val lastBoundary = boundary
    boundary = until
    var posted = 0L
    eachFrom(lastBoundary, until) { (row, end) =>
      changes.insert(row, end, ChangeReason.Trigger)
      filters.forget(row)
      posted += 1
    }
    filters.startFrom(until)
    if (posted > 0) filters.afterForgetting()
    pending -= posted
    var left = 0L
    eachFrom(0L, lastBoundary) { (row, end) =>
      changes.delete(row, end, ChangeReason.Trigger)
      val _ = rows.leave(row)
      left += 1
    }
    val something = posted + left > 0
    if (!something && trigger.emitsEmpty) changes.emptyTrigger()
    something
  }

  /** Removes the rows that a filter has evicted from the other filters and from the pending rows.
    *
    * @param arriving
    *   the row that is offered, or `WindowView.NoRow`
    * @param isThere
    *   true if the filters admitted the arriving row
    */
  private def dropFiltered(arriving: Long, isThere: Boolean): Unit = {
    var i = 0
    while (i < evicted.size) {
      val row = evicted(i)
      if ((row != arriving || isThere) && rows.leave(row)) {
        filters.forget(row)
        changes.evictSilently(1L)
        if (row != arriving) pending -= 1
      }
      i += 1
    }
    if (evicted.size > 0 || arriving != WindowView.NoRow && !isThere) {
      filters.afterForgetting()
    }
  }

  /** Calls `emit` with each held row and the ordinal after it. */
  private def eachFrom(from: Long, until: Long)(emit: (Long, Long) => Unit): Unit = {
    var row = rows.from(from)
    while (row < until) {
      val next = rows.next(row)
      emit(row, row + 1)
      row = next
    }
  }
}
