package winops.spark.group

import java.util.BitSet

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.aggregates.StoredAggregates
import winops.spark.plan.{KeepPlan, Output}
import winops.spark.row.{RowBytes, RowShape}
import winops.spark.state.RebuiltState
import winops.storage.bytes.{ByteReader, ByteWriter, Segments}
import winops.storage.rows.RowLog
import winops.window.changes.ChangeQueue
import winops.window.time.Clock

/** Lets the rows of a group, which another window holds, enter the window of the running query in
  * the order of their arrival. Rows that were inserted before and are not in the new window are
  * deleted at the clock of the group; rows that waited for a trigger before and are in the new
  * window are inserted. The numbers of steps and changes continue.
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
  private val pagesBefore = storage.pages.another()
  private val aggregates = rebuilt.aggregates.toSeq.flatMap { form =>
    form.distinct.zip(form.arrivals).map { case (distinct, arrivals) =>
      new StoredAggregates(
        pagesBefore,
        form.leavesFromFront && !form.isDivided,
        distinct,
        arrivals)
    }
  }

  private val row = new UnsafeRow(plan.content.size)
  private val windowsBefore = before.spec.policy.windowNames
  private val windows = plan.spec.policy.windowNames
  private val count = plan.spec.windows

  /** The rows on their way, by their places in the order of arrival. */
  private var carried: RowLog = _

  /** For each former window, the places of the rows that were inserted. */
  private var inserted = Array.empty[BitSet]

  /** For each window, the places of the rows that are in it. */
  private var kept = Array.empty[BitSet]

  /** The place, among the carried rows, of each row in the window, by its ordinal. */
  private var places = Array.empty[Int]

  /** The ordinal in the window of each carried row, if the window has taken it. */
  private var ordinals = Array.empty[Int]
  private var next = 0
  private var isOpen = false
  private var isShown = false
  private var heldBefore = 0L

  /** The number of rows that the former window held. */
  def held: Long = heldBefore

  /** Restores the open group, with its rows in the new window. */
  def restore(in: ByteReader): Unit = {
    former.key = state.key
    former.restoreRows(in)
    heldBefore = former.operation.held
    val clock = new ByteWriter
    former.operation.clock.saveNow(clock)
    val wasAlive = former.operation.clock.isAlive
    val latestArrival = former.operation.clock.latestArrival
    val numbers = new ByteWriter
    changesBefore.save(numbers)
    storageBefore.pages.settle()
    pagesBefore.startAs(storageBefore.pages)
    aggregates.foreach(_.restore(in))
    val waitingOrder = former.arrivals.lastOrder
    collect()
    aggregates.foreach(_.clear())
    pagesBefore.settle()
    former.operation.forget()
    storageBefore.pages.discard()
    state.clear()
    state.restoreKey(in)
    state.registeredTimer = former.registeredTimer
    state.arrivals.lastOrder = waitingOrder
    rows.moveWaiting(former.arrivals, state.arrivals)
    operation.clock.restoreNow(new ByteReader(clock.toArray))
    storage.reach(operation.clock.now)
    // A group without rows keeps its numbers.
    if (wasAlive) operation.clock.live()
    enter()
    // The silence goes on: the rows that are held may be older than the last one that arrived.
    if (wasAlive) operation.clock.arrived(latestArrival)
    changes.clear()
    changes.restore(new ByteReader(numbers.toArray))
    fillResults()
  }

  /** Copies the former rows, and notes which of them were inserted. */
  private def collect(): Unit = {
    carried = new RowLog(newSegments(), withArrival = true, RowShape.of(plan.content))
    val stored = Array.newBuilder[Long]
    rows.whole.eachOf(former.operation.window) { (ordinal, arrival, row) =>
      RowBytes.append(carried, arrival, row)
      stored += ordinal
    }
    val ordinals = stored.result()
    inserted = Array.fill(before.spec.windows)(new BitSet(ordinals.length))
    former.operation.machine.emitInserted()
    while (!changesBefore.isEmpty) {
      changesBefore.next()
      inserted(changesBefore.window)
        .set(java.util.Arrays.binarySearch(ordinals, changesBefore.ordinal))
    }
  }

  /** Inserts the rows into the new window, without output. */
  private def enter(): Unit = {
    val size = carried.end.toInt
    places = new Array[Int](size)
    ordinals = new Array[Int](size)
    var reached = Long.MinValue
    var place = 0
    while (place < size) {
      reached = Math.min(operation.clock.now, Math.max(reached, arrivalOf(place.toLong)))
      RowBytes.pointTo(row, carried, place.toLong)
      val ordinal = window.end.toInt
      RowBytes.append(window, reached, row)
      if (operation.machine.carry(reached)) {
        places(ordinal) = place
        ordinals(place) = ordinal
      }
      operation.machine.settle()
      changes.clear()
      place += 1
    }
    kept = Array.fill(count)(new BitSet(size))
    operation.machine.emitInserted()
    while (!changes.isEmpty) {
      changes.next()
      kept(changes.window).set(places(changes.ordinal.toInt))
    }
    next = 0
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
      results.startWith(visit => eachIn(number)(ordinal => visit(ordinal, ordinal + 1)), Nil)
  }

  /** Visits the ordinals of the rows in a window. */
  private def eachIn(number: Int)(visit: Long => Unit): Unit = {
    var place = kept(number).nextSetBit(0)
    while (place >= 0) {
      visit(ordinals(place).toLong)
      place = kept(number).nextSetBit(place + 1)
    }
  }

  /** Emits the next change of a row; returns false after the last one. */
  def emitNext(): Boolean = {
    takeBack()
    // Aggregates have the new contents with their next step.
    val until = if (plan.spec.followsContent) 0 else carried.end.toInt * count
    while (next < until && !isChanged(next / count, next % count)) next += 1
    val hasNext = next < until
    if (hasNext) {
      if (!isOpen) operation.machine.beginCorrection()
      isOpen = true
      emit(next / count, next % count)
      next += 1
    } else if (isOpen) {
      operation.machine.endCorrection()
      isOpen = false
    }
    hasNext
  }

  private def wasInserted(place: Int, number: Int): Boolean =
    if (windows.nonEmpty && windowsBefore.contains(windows(number))) {
      inserted(windowsBefore.indexOf(windows(number))).get(place)
    } else inserted.exists(_.get(place))

  private def isChanged(place: Int, number: Int): Boolean =
    wasInserted(place, number) != kept(number).get(place)

  private def emit(place: Int, number: Int): Unit =
    if (kept(number).get(place)) {
      operation.machine.emitCorrection(number, ordinals(place).toLong, isInsert = true)
    } else {
      // The row is readable until the next change.
      RowBytes.pointTo(row, carried, place.toLong)
      val ordinal = window.end
      RowBytes.append(window, 0L, row)
      isShown = true
      operation.machine.emitCorrection(number, ordinal, isInsert = false)
    }

  private def takeBack(): Unit = if (isShown) {
    window.takeBack()
    isShown = false
  }
}
