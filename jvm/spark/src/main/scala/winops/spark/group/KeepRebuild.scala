package winops.spark.group

import winops.spark.aggregates.StoredAggregates
import winops.spark.plan.KeepPlan
import winops.spark.state.RebuiltState
import winops.storage.bytes.{ByteReader, ByteWriter, Segments}
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

  private val pagesBefore = storage.pages.another()
  private val aggregates: Seq[StoredAggregates] =
    if (rebuilt.areAggregatesSame) Nil
    else {
      rebuilt.aggregates.toSeq.flatMap { form =>
        form.distinct.zip(form.arrivals).map { case (distinct, arrivals) =>
          new StoredAggregates(
            pagesBefore,
            form.leavesFromFront && !form.isDivided,
            distinct,
            arrivals)
        }
      }
    }

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
    if (rebuilt.areAggregatesSame) operation.restoreResults(in) else replaceAggregates(in)
    state.restoreKey(in)
  }

  private def replaceAggregates(in: ByteReader): Unit = {
    pagesBefore.startAs(storage.pages)
    aggregates.foreach(_.restore(in))
    aggregates.foreach(_.clear())
    // The new aggregates may have entries with the numbers of those that are removed.
    pagesBefore.settle()
    if (operation.results.nonEmpty) {
      val contents = contentsByWindow()
      operation.results.zipWithIndex.foreach { case (results, window) =>
        val newest = if (aggregates.size > window) aggregates(window).newest else Nil
        results.startWith(
          visit => contents(window).foreach { case (from, until) => visit(from, until) },
          newest)
      }
    }
  }

  /** The ranges of rows in each window, in the order of the rows. */
  private def contentsByWindow(): Array[Seq[(Long, Long)]] = {
    val found = Array.fill(operation.results.size)(Array.newBuilder[Long])
    operation.machine.emitInserted()
    while (!changes.isEmpty) {
      changes.next()
      found(changes.window) += changes.ordinal
    }
    found.map(ordinals => KeepRebuild.ranges(ordinals.result().sorted))
  }
}

private object KeepRebuild {

  /** The ranges without holes of sorted numbers. */
  def ranges(sorted: Array[Long]): Seq[(Long, Long)] = {
    val found = Seq.newBuilder[(Long, Long)]
    var i = 0
    while (i < sorted.length) {
      val from = sorted(i)
      while (i + 1 < sorted.length && sorted(i + 1) == sorted(i) + 1) i += 1
      found += from -> (sorted(i) + 1)
      i += 1
    }
    found.result()
  }
}
