package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.aggregates.CrossGroupAggregates
import winops.spark.plan.KeepPlan
import winops.spark.state.GroupStore
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.RowStore

/** The state that the groups of a cross-group window share: the rows that wait, and the contents
  * of all windows together, if results are across groups.
  *
  * @param store
  *   stores the segments of the rows
  * @param open
  *   the open group
  */
final class CrossGroupState(plan: KeepPlan, store: GroupStore, open: GroupState[KeepOperation]) {
  private val storage = new GroupStorage(plan, store)
  private val pages = storage.pages

  /** The rows that have not been applied. */
  val arrivals = new ArrivalState(plan, storage)

  private val openGroup = new CrossGroupAggregates.Group {
    override def key: UnsafeRow = open.key
    override def window: RowStore = open.operation.window
  }

  /** The contents of all windows; None if results are not across groups. */
  val contents: Option[CrossGroupAggregates] = Option.when(plan.spec.acrossGroups) {
    new CrossGroupAggregates(
      plan.content,
      rows =>
        KeepOperation.contentResults(
          plan,
          storage,
          rows,
          leavesFromFront = false,
          number = 0,
          rows.contains),
      pages,
      () => openGroup)
  }

  def clear(): Unit = {
    pages.clear()
    arrivals.clear()
    contents.foreach(_.clear())
  }

  /** Stores everything.
    *
    * @param clock
    *   the clock of all groups in milliseconds
    */
  def save(out: ByteWriter, clock: Long): Unit = {
    contents.foreach(_.settle())
    pages.settle()
    storage.reach(clock)
    out.byte(arrivals.kind)
    arrivals.save(out, clock)
    pages.save(out)
    contents.foreach(_.save(out))
  }

  /** Restores what was saved with the same clock. */
  def restore(in: ByteReader, clock: Long): Unit = {
    CrossGroupState.restoreArrivals(in, clock, storage, arrivals)
    pages.restore(in)
    contents.foreach(_.restore(in))
    in.finish()
  }
}

object CrossGroupState {

  /** Restores the rows that wait, for readers that do not know the results of the query. */
  def restoreArrivals(
      in: ByteReader,
      clock: Long,
      storage: GroupStorage,
      arrivals: ArrivalState): Unit = {
    storage.reach(clock)
    arrivals.restore(in, in.byte() & 0xff, clock)
  }
}
