package winops.spark.group

import winops.spark.frames.Frames
import winops.spark.plan.{FramedFunction, OverPlan}
import winops.spark.state.RebuiltState
import winops.storage.bytes.{ByteReader, Segments}

/** Restores groups of window functions that another query has stored, as the running one stores
  * them.
  *
  * @param state
  *   the open group, in the form of the running query
  * @param newSegments
  *   creates segments that spill
  */
private[spark] final class OverRebuild(
    plan: OverPlan,
    rebuilt: RebuiltState,
    storage: GroupStorage,
    state: GroupState[OverOperation],
    newSegments: () => Segments) {
  private val operation = state.operation
  private val rows = new FormerRows(plan, rebuilt.columns, newSegments)
  private val columnsBefore = rows.named(rebuilt.columnsOfFrames)
  private val columns = Frames.columns(plan)
  private val areColumnsSame =
    rebuilt.columnsOfFrames == columns.map(FramedFunction.nameOf(_, plan.content)).toSet

  private val moved = Option.unless(rebuilt.areRowsSame && areColumnsSame) {
    val before = rows.before.asInstanceOf[OverPlan]
    val ofBefore = new GroupStorage(before, storage.store)
    val former =
      new GroupState(before, ofBefore, new OverOperation(before, ofBefore, columnsBefore, None))
    val group = new MovedGroup(rows, former, ofBefore, state, storage)
    (group, new rows.Mover(columnsBefore, columns))
  }

  private var heldBefore = 0L

  /** The number of rows with which the open group was stored. Its functions may need fewer. */
  def held: Long = heldBefore

  /** Restores the open group. */
  def restore(in: ByteReader): Unit = {
    moved match {
      case Some((group, partial)) =>
        val former = group.former.operation
        group.restore(in) {
          rows.whole.move(former.rows, operation.rows)
          partial.move(former.log, operation.log)
        }
        operation.silenceAs(former)
      case None => state.restoreRows(in)
    }
    heldBefore = state.held
    operation.restoreResults(in)
    state.restoreKey(in)
  }
}
