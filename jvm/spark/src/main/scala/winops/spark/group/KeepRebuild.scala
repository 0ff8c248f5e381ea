package winops.spark.group

import winops.spark.plan.KeepPlan
import winops.spark.state.RebuiltState
import winops.storage.bytes.{ByteReader, ByteWriter, SegmentedBits, Segments}
import winops.window.changes.ChangeQueue

/** Restores groups of a retention window that another query has stored, as the running one stores
  * them. The windows and their numbers go on; rows get the columns of the query, and aggregates
  * that differ are computed from the rows in the windows.
  *
  * @param changes
  *   the queue of the changes
  * @param state
  *   the open group, in the form of the running query
  * @param newSegments
  *   creates segments that spill
  */
private[spark] final class KeepRebuild(
    plan: KeepPlan,
    rebuilt: RebuiltState,
    storage: GroupStorage,
    changes: ChangeQueue,
    state: GroupState[KeepOperation],
    newSegments: () => Segments) {
  private val operation = state.operation
  private val rows = new FormerRows(plan, rebuilt.columns, newSegments)
  private val moved = Option.unless(rebuilt.areRowsSame) {
    val before = rows.before.asInstanceOf[KeepPlan]
    val ofBefore = new GroupStorage(before, storage.store)
    val former = new GroupState(
      before,
      ofBefore,
      new KeepOperation(before, ofBefore, new ChangeQueue(before.spec.stream)))
    new MovedGroup(rows, former, ofBefore, state, storage)
  }

  private val aggregates =
    Option.unless(rebuilt.areAggregatesSame)(new FormerAggregates(rebuilt, storage))

  /** Restores the open group. */
  def restore(in: ByteReader): Unit = {
    moved match {
      case Some(group) =>
        val former = group.former.operation
        val machine = new ByteWriter
        group.restore(in) {
          // The stored numbers and windows refer to the rows, which are removed from here.
          former.machine.save(machine)
          rows.whole.move(former.window, operation.window)
        }
        // The pages of the machine's indexes stay where they are.
        operation.machine.restore(new ByteReader(machine.toArray))
      case None => state.restoreRows(in)
    }
    aggregates.fold(operation.restoreResults(in))(replace(_, in))
    state.restoreKey(in)
  }

  private def replace(aggregates: FormerAggregates, in: ByteReader): Unit = {
    aggregates.restore(in, storage.pages)
    aggregates.remove()
    if (operation.results.nonEmpty) {
      findContents()
      operation.results.zipWithIndex.foreach { case (results, number) =>
        results.startWith(eachRange(number), aggregates.newest(number))
      }
      contents.foreach(_.clear())
    }
  }

  /** For each window, the rows in it, by their places behind the first row. */
  private val contents =
    operation.results.map(_ => new SegmentedBits(newSegments()))

  private def findContents(): Unit = {
    val first = operation.window.first
    operation.machine.emitInserted()
    while (!changes.isEmpty) {
      changes.next()
      contents(changes.window)(changes.ordinal - first) = true
    }
  }

  /** Visits the rows of a window in their order, as ranges of ordinals without holes. */
  private def eachRange(number: Int)(visit: (Long, Long) => Unit): Unit = {
    val rows = operation.window
    val first = rows.first
    var from = first
    var until = first
    var ordinal = first
    while (ordinal < rows.end) {
      if (contents(number).contains(ordinal - first)) {
        if (ordinal != until) {
          if (from < until) visit(from, until)
          from = ordinal
        }
        until = ordinal + 1
      }
      ordinal = rows.next(ordinal)
    }
    if (from < until) visit(from, until)
  }
}
