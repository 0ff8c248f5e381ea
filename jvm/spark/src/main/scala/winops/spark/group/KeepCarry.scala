package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.plan.{KeepPlan, Output}
import winops.spark.row.{RowBytes, RowShape}
import winops.spark.state.RebuiltState
import winops.storage.bytes.{ByteReader, ByteWriter, SegmentedBits, Segments}
import winops.storage.rows.RowLog
import winops.window.changes.ChangeQueue
import winops.window.time.{Clock, GroupClock}

/** Lets the rows of a group, which another window holds, enter the window of the running query in
  * the order of their arrival. Rows that were inserted before and are not in the new window are
  * deleted at the clock of the group; rows that waited for a trigger before and are in the new
  * window are inserted. The numbers of steps and changes continue, and so does the silence of the
  * group.
  *
  * @param before
  *   the plan of the query that stored the group
  * @param changes
  *   numbers and queues the changes
  * @param state
  *   the open group, in the form of the running query
  * @param newSegments
  *   creates segments that spill
  */
private[spark] final class KeepCarry(
    plan: KeepPlan,
    before: KeepPlan,
    rebuilt: RebuiltState,
    storage: GroupStorage,
    changes: ChangeQueue,
    state: GroupState[KeepOperation],
    newSegments: () => Segments) {
  private val operation = state.operation
  private val window = operation.window
  private val rows = new FormerRows(plan, rebuilt.columns, newSegments)
  private val changesBefore = new ChangeQueue(before.spec.stream)
  private val storageBefore = new GroupStorage(before, storage.store)
  private val former = {
    val bare =
      before.copy(spec = before.spec.copy(output = Output.Changes), by = Nil, results = Nil)
    new GroupState(bare, storageBefore, new KeepOperation(bare, storageBefore, changesBefore))
  }
  private val aggregates = new FormerAggregates(rebuilt, storage)
  private val clock = new GroupClock(Clock.Never)

  private val row = new UnsafeRow(plan.content.size)
  private val emitsRows = plan.spec.output == Output.WithColumns

  /** For each window, and then for each removed one, the number of the former window of its name;
    * -1 for a new name.
    */
  private val numbersBefore: Seq[Int] = {
    val windows = plan.spec.policy.windowNames
    if (windows.isEmpty) Seq(0)
    else {
      val windowsBefore = before.spec.policy.windowNames
      (windows ++ plan.spec.restart.removedWindows(windows)).map(windowsBefore.indexOf(_))
    }
  }

  /** The rows on their way. The place of a row is its number in the order of arrival. */
  private val carried = new RowLog(newSegments(), withArrival = true, RowShape.of(plan.content))

  /** For each former window, the places of the rows that were inserted. */
  private val inserted = newBits(before.spec.windows)

  /** The places of the rows that the window has taken, which have ordinals without holes. */
  private val taken = newBits(1).head

  /** For each window, the ordinals of the rows in it. */
  private val kept = newBits(plan.spec.windows)

  // The next row, and the next window for which it may change.
  private var place = 0L
  private var number = 0

  /** The ordinal in the window of the next row, if the window has taken it. */
  private var ordinal = 0L
  private var isOpen = false
  private var isShown = false
  private var heldBefore = 0L

  /** The number of rows that the former window held. */
  def held: Long = heldBefore

  private def newBits(count: Int): Seq[SegmentedBits] =
    Seq.fill(count)(new SegmentedBits(newSegments()))

  /** Restores the open group, with its rows in the new window. */
  def restore(in: ByteReader): Unit = {
    former.key = state.key
    former.restoreRows(in)
    heldBefore = former.operation.held
    clock.startAs(former.operation.clock)
    val numbers = new ByteWriter
    changesBefore.save(numbers)
    storageBefore.pages.settle()
    aggregates.restore(in, storageBefore.pages)
    val waitingOrder = former.arrivals.lastOrder
    collect()
    aggregates.remove()
    former.operation.forget()
    storageBefore.pages.discard()
    state.clear()
    state.restoreKey(in)
    state.registeredTimer = former.registeredTimer
    state.arrivals.lastOrder = waitingOrder
    rows.moveWaiting(former.arrivals, state.arrivals)
    operation.clock.startAs(clock)
    storage.reach(operation.clock.now)
    enter()
    // The last row to arrive need not be among those that are held, and a group without rows keeps
    // its numbers.
    operation.clock.startAs(clock)
    changes.clear()
    changes.restore(new ByteReader(numbers.toArray))
    fillResults()
  }

  /** Copies the former rows, and notes which of them were inserted. */
  private def collect(): Unit = {
    val window = former.operation.window
    val first = window.first
    carried.discard()
    inserted.foreach(_.clear())
    former.operation.machine.emitInserted()
    while (!changesBefore.isEmpty) {
      changesBefore.next()
      inserted(changesBefore.window)(changesBefore.ordinal - first) = true
    }
    rows.whole.eachOf(window) { (ordinal, arrival, row) =>
      // The former window may have holes, so a place is at or before that of the ordinal.
      inserted.foreach(places => places(carried.end) = places.contains(ordinal - first))
      RowBytes.append(carried, arrival, row)
    }
  }

  /** Inserts the rows into the new window, without output. */
  private def enter(): Unit = {
    taken.clear()
    kept.foreach(_.clear())
    var reached = Long.MinValue
    var place = 0L
    while (place < carried.end) {
      reached = Math.min(operation.clock.now, Math.max(reached, arrivalOf(place)))
      RowBytes.pointTo(row, carried, place)
      RowBytes.append(window, reached, row)
      taken(place) = operation.machine.carry(reached)
      operation.machine.settle()
      changes.clear()
      place += 1
    }
    operation.machine.emitInserted()
    while (!changes.isEmpty) {
      changes.next()
      kept(changes.window)(changes.ordinal) = true
    }
    begin()
    isOpen = false
    isShown = false
  }

  /** The arrival time of a carried row, or that by its time if the former window needed none. */
  private def arrivalOf(place: Long): Long =
    if (before.spec.policy.needsArrivals) carried.arrival(place)
    else {
      RowBytes.pointTo(row, carried, place)
      val timeAt = plan.timeOrdinal
      if (timeAt >= 0 && !row.isNullAt(timeAt)) Clock.floorToMillis(row.getLong(timeAt))
      else operation.clock.now
    }

  private def fillResults(): Unit = operation.results.zipWithIndex.foreach {
    case (results, number) =>
      // Rows that are yet to be emitted enter the results when they are.
      results.startWith(
        visit =>
          eachKept(number) { isEmitted =>
            if (isEmitted || !emitsRows) visit(ordinal, ordinal + 1)
          },
        aggregates.newest(number))
  }

  /** Moves through the rows in a window.
    *
    * @param visit
    *   receives whether the former query has inserted the row
    */
  private def eachKept(number: Int)(visit: Boolean => Unit): Unit = {
    begin()
    while (place < carried.end) {
      if (isKept(number)) visit(inserted.exists(_.contains(place)))
      step()
    }
    begin()
  }

  private def begin(): Unit = {
    place = 0L
    ordinal = 0L
    number = 0
  }

  /** Moves to the next row. */
  private def step(): Unit = {
    if (taken.contains(place)) ordinal += 1
    place += 1
    number = 0
  }

  private def isKept(number: Int): Boolean =
    number < kept.size && taken.contains(place) && kept(number).contains(ordinal)

  /** Emits the next changes; returns false after the last ones. */
  def emitNext(): Boolean = {
    takeBack()
    if (emitsRows) emitPendingRows()
    else {
      // Aggregates have the new contents with their next step.
      if (!plan.spec.followsContent) findChange()
      else place = carried.end
      val hasNext = place < carried.end
      if (hasNext) {
        if (!isOpen) operation.machine.beginCorrection()
        isOpen = true
        emitChange()
        number += 1
      } else if (isOpen) {
        operation.machine.endCorrection()
        isOpen = false
      }
      hasNext
    }
  }

  /** Inserts all rows that waited for a trigger, in one step: a row is emitted with aggregates of
    * all windows.
    */
  private def emitPendingRows(): Boolean = {
    val isFirst = !isOpen
    if (isFirst) {
      isOpen = true
      operation.machine.beginCorrection()
      kept.indices.foreach { number =>
        eachKept(number) { isEmitted =>
          if (!isEmitted) operation.machine.emitCorrection(number, ordinal, isInsert = true)
        }
      }
      operation.machine.endCorrection()
    }
    isFirst
  }

  /** Moves to the next row and window whose contents change. */
  private def findChange(): Unit =
    while (place < carried.end && (number == numbersBefore.size || !isChanged)) {
      if (number < numbersBefore.size) number += 1 else step()
    }

  private def isChanged: Boolean = {
    val numberBefore = numbersBefore(number)
    val wasInserted = numberBefore >= 0 && inserted(numberBefore).contains(place)
    wasInserted != isKept(number)
  }

  private def emitChange(): Unit =
    if (isKept(number)) {
      operation.machine.emitCorrection(number, ordinal, isInsert = true)
    } else {
      // The row is readable until the next change.
      RowBytes.pointTo(row, carried, place)
      val shown = window.end
      RowBytes.append(window, 0L, row)
      isShown = true
      operation.machine.emitCorrection(number, shown, isInsert = false)
    }

  private def takeBack(): Unit = if (isShown) {
    window.takeBack()
    isShown = false
  }
}
