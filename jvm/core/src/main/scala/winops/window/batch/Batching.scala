package winops.window.batch

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.changes.Steps
import winops.window.contents.HeldRows
import winops.window.expression.WindowView
import winops.window.rules.{Evicted, Part}
import winops.window.single.Retainer

/** Collects pending rows. A trigger inserts them together and deletes the rows of the previous
  * batch. Other windows, the filters, may evict pending rows, which emits nothing.
  *
  * @param before
  *   number of filters that the policy names before the batch window; they fire first at an
  *   instant
  * @param rows
  *   the rows of the last batch and the pending rows
  */
private[window] final class Batching(
    filters: Array[Part],
    before: Int,
    trigger: BatchTrigger,
    rows: HeldRows,
    steps: Steps)
    extends Retainer {
  private val evicted = new Evicted(byLast = false)
  private val takes = new Array[Boolean](filters.length)

  /** The ordinal that separates the rows of the last batch from the pending rows. */
  private var boundary = 0L
  private var pending = 0L

  override def due: Long = {
    var first = trigger.due
    var i = 0
    while (i < filters.length) {
      first = Math.min(first, filters(i).due)
      i += 1
    }
    first
  }

  override def arrive(row: Long, at: Long): Boolean = {
    rows.entered()
    val isComplete = !trigger.lacksValue(row) && !Part.lacksValue(filters, row)
    if (!isComplete) rows.refused(row)
    isComplete && offer(row, at)
  }

  /** Offers the row to the filters and, if all of them admit the row, to the batch. Returns true
    * if all filters admit the row. Rows that the filters evict leave the batch in either case.
    */
  private def offer(row: Long, at: Long): Boolean = {
    evicted.clear()
    var comesIn = true
    var i = 0
    while (i < filters.length) {
      takes(i) = filters(i).admits(row, at)
      if (takes(i)) filters(i).arrive(row, at, evicted) else comesIn = false
      i += 1
    }
    if (!comesIn) takeBack(row)
    dropFiltered(row, isThere = comesIn)
    checkLoss(at, row)
    if (comesIn && !evicted.contains(row)) join(row, at)
    comesIn
  }

  override def atDue(due: Long): Unit = {
    filterAtDue(due, 0, before)
    if (trigger.due <= due) trigger.posted(due, byTime = true, post(rows.end))
    filterAtDue(due, before, filters.length)
  }

  override def held: Long = rows.size
  override def notInserted: Long = pending

  /** Emits the pending rows. The rows of the last batch are not contents: the next batch deletes
    * them.
    */
  override def emitContents(): Unit = eachFrom(boundary, rows.end)(steps.content)

  override def report(kind: Int): Unit = steps.report(kind, rows.from(boundary), rows.end)

  override def leaveAll(): Unit = {
    eachFrom(0L, boundary)(steps.deleteGroup)
    eachFrom(0L, rows.end) { (row, _) =>
      val _ = rows.leave(row)
    }
  }

  override def settle(): Unit = rows.settle()

  override def clear(): Unit = {
    rows.startAfresh()
    boundary = 0L
    pending = 0L
    trigger.clear()
    filters.foreach(_.clear())
  }

  override def save(out: ByteWriter): Unit = {
    out.number(rows.size)
    out.number(boundary)
    out.number(pending)
    trigger.save(out)
    filters.foreach(_.save(out))
  }

  override def restore(in: ByteReader): Unit = {
    rows.restart(in.count(rows.end))
    boundary = in.count(rows.end)
    pending = in.count(rows.end)
    trigger.restore(in)
    filters.foreach(_.restore(in))
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
      if (trigger.isCompleteAfterLoss(first, rows.lastFrom(until - 1), pending)) {
        trigger.posted(at, byTime = false, post(until))
      }
    }

  private def join(row: Long, at: Long): Unit = {
    if (pending > 0 && trigger.endsBefore(row, rows.from(boundary))) {
      trigger.posted(at, byTime = false, post(row))
    }
    pending += 1
    val end = trigger.endAfter(row, at, rows.from(boundary), pending)
    if (end != WindowView.NoRow) trigger.posted(at, byTime = false, post(end))
  }

  /** Inserts the pending rows before `until` and deletes the rows of the last batch. Returns true
    * if any row was inserted or deleted.
    */
  private def post(until: Long): Boolean = {
    val lastBoundary = boundary
    boundary = until
    var posted = 0L
    eachFrom(lastBoundary, until) { (row, end) =>
      steps.insert(row, end)
      filters.foreach(_.forget(row))
      posted += 1
    }
    filters.foreach(_.startFrom(until))
    if (posted > 0) filters.foreach(_.afterForgetting())
    pending -= posted
    var left = 0L
    eachFrom(0L, lastBoundary) { (row, end) =>
      steps.delete(row, end)
      val _ = rows.leave(row)
      left += 1
    }
    val something = posted + left > 0
    if (!something && trigger.emitsEmpty) steps.emptyTrigger()
    something
  }

  /** Removes the refused row from the filters that admitted it. */
  private def takeBack(row: Long): Unit = {
    var i = 0
    while (i < filters.length) {
      if (takes(i)) filters(i).takeBack(row)
      i += 1
    }
    rows.refused(row)
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
        filters.foreach(_.forget(row))
        steps.evictSilently(1L)
        if (row != arriving) pending -= 1
      }
      i += 1
    }
    if (evicted.size > 0 || arriving != WindowView.NoRow && !isThere) {
      filters.foreach(_.afterForgetting())
    }
  }

  /** Calls `tell` with each held row and the ordinal after it. */
  private def eachFrom(from: Long, until: Long)(tell: (Long, Long) => Unit): Unit = {
    var row = rows.from(from)
    while (row < until) {
      val next = rows.next(row)
      tell(row, row + 1)
      row = next
    }
  }
}
