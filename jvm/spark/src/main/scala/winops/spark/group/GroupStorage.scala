package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}

import winops.spark.plan.OperatorPlan
import winops.spark.row.RowShape
import winops.spark.state.GroupStore
import winops.storage.btree.Pages
import winops.storage.bytes.ShiftedSegments
import winops.storage.rows.{PatchedRowLog, RowLog, RowTree}

/** The storage of the open group, with the prediction of its rows.
  *
  * @param store
  *   stores the group and the segments of its rows
  */
final class GroupStorage(plan: OperatorPlan, val store: GroupStore) {
  import GroupStorage._

  val pages =
    new Pages(new ShiftedSegments(store.windowSegments, FirstPage), store.pageMemory)

  private val form = new PredictedRows(plan, plan.content)
  private val waitingForm = new PredictedRows(plan, plan.waitingColumns)
  private val forms = if (plan.spec.rowsWait) Seq(form, waitingForm) else Seq(form)

  /** A new log of whole rows. */
  def rowLog(withArrival: Boolean): RowLog =
    new RowLog(store.windowSegments, withArrival, RowShape.of(plan.content), form)

  /** A new tree of whole rows. */
  def rowTree(withArrival: Boolean): RowTree =
    new RowTree(pages, withArrival, RowShape.of(plan.content))

  /** A new log of whole rows of which any may be removed or replaced. */
  def patchedLog(withArrival: Boolean): PatchedRowLog =
    new PatchedRowLog(rowLog(withArrival), pages, withArrival, RowShape.of(plan.content))

  /** A new log of some columns of the rows, beside one of whole rows. */
  def logOf(columns: Seq[Attribute]): RowLog =
    new RowLog(
      new ShiftedSegments(store.windowSegments, FirstPartialRow),
      withArrival = false,
      RowShape.of(columns))

  /** A new log of rows that wait for the watermark. */
  def waitingLog: WaitingLog = new WaitingLog(plan, store.waitingSegments, waitingForm)

  /** A new log of rows that wait and are of a table before the stream. */
  def historyLog: WaitingLog =
    new WaitingLog(plan, new ShiftedSegments(store.waitingSegments, FirstOfHistory), waitingForm)

  /** Predicts the rows of a group. */
  def select(key: UnsafeRow): Unit = forms.foreach(_.select(key))

  /** Predicts the rows of a group with this clock, in milliseconds. */
  def reach(clock: Long): Unit = forms.foreach(_.reach(clock))
}

private object GroupStorage {

  /** The first segment number of pages, above the numbers of a log's own segments. */
  val FirstPage: Long = 1L << 60

  /** The first segment number of rows with some of their columns, above those of pages. */
  val FirstPartialRow: Long = 1L << 61

  /** The first segment number of waiting rows of a table, above those of other waiting rows. */
  val FirstOfHistory: Long = 1L << 60
}
