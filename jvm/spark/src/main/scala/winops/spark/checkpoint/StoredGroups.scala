package winops.spark.checkpoint

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.ReadStateStore

import winops.spark.execution.CrossGroupTask
import winops.spark.group._
import winops.spark.plan.{KeepPlan, OperatorPlan, OverPlan}
import winops.spark.restart.Outcome
import winops.spark.state.{PartitionSummary, StateErrors, StateGroupStore, StateIdentity, WholeGroupStore}
import winops.storage.bytes.CorruptStateException
import winops.window.changes.ChangeQueue
import winops.window.crossgroup.CrossGroupMachines
import winops.window.machine.Machine
import winops.window.time.Clock

/** Reads the groups in one partition of a state, one open at a time.
  *
  * Changes of an open group are not written to the store.
  *
  * @param summary
  *   the partition's own record of its state; none before its first micro-batch
  */
final class StoredGroups(
    stored: StoredKeep,
    groups: StateGroupStore,
    val summary: Option[PartitionSummary]) {

  /** True if the partition stores state that all its groups share. */
  val isCrossGroup: Boolean = WholeGroupStore.isIn(groups.partition)

  val plan: OperatorPlan = stored.plan(summary.fold(Clock.Never)(_.idle))

  private val storage = new GroupStorage(plan, groups)

  private val (operation: Operation, ofOperation: ShownRows) = plan match {
    case keep: KeepPlan =>
      val changes = queueOf(keep)
      val kept = new KeepOperation(keep, storage, changes, ownsSteps = !isCrossGroup)
      (kept, new RetainedRows(keep, kept, changes))
    case plan: OverPlan =>
      val over = new OverOperation(plan, storage)
      (over, new UnknownRows(over))
  }

  /** The open group. */
  val state: GroupState[Operation] = new GroupState(plan, storage, operation)

  /** The rows of [[state]] that readers show beside the waiting ones. */
  private[checkpoint] def shown: ShownRows = ofOperation

  private def queueOf(keep: KeepPlan): ChangeQueue = new ChangeQueue(
    keep.spec.policy.stream.copy(inserts = true, deletes = true),
    ignoresReports = true)

  /** The number of buckets among which groups with short values are divided. */
  def buckets: Long = groups.numberOfBuckets

  /** The number of groups that a condition accepts. */
  def count(condition: GroupCondition): Long =
    groups.each.foldLeft(0L)((sum, key) => if (condition.accepts(key)) sum + 1 else sum)

  /** Opens all groups one by one, each in [[state]]. */
  def each: Iterator[GroupState[Operation]] = groups.each.map(open)

  /** Opens the groups that a filter accepts one by one, each in [[state]]. Entries of other
    * groups are not read if the filter names the keys.
    */
  def each(filter: GroupFilter): Iterator[GroupState[Operation]] = filter.keys match {
    case Some(keys) => keys.iterator.filter(filter.accepts).flatMap(find)
    case None => groups.each.filter(filter.accepts).map(open)
  }

  /** The waiting rows of all groups together; None if groups are independent. */
  def sharedArrivals: Option[ArrivalState] = plan match {
    case keep: KeepPlan if isCrossGroup =>
      val whole = new WholeGroupStore(groups.partition, groups.pageMemory)
      val changes = queueOf(keep)
      val host = StoredGroups.NoHost
      val machines =
        CrossGroupTask.machinesOf(keep, stored.keys, changes, whole, groups.records, host)
      val in = whole.open(CrossGroupTask.NoKey)
      CrossGroupTask.restoreGroups(in, machines, changes)
      val storage = new GroupStorage(keep, whole)
      val arrivals = new ArrivalState(keep, storage)
      CrossGroupState.restoreArrivals(in, machines.now, storage, arrivals)
      Some(arrivals)
    case _ => None
  }

  private def open(key: UnsafeRow): GroupState[Operation] = find(key).getOrElse {
    throw new CorruptStateException("a group is not found by its key")
  }

  private def find(key: UnsafeRow): Option[GroupState[Operation]] = Option(groups.open(key)).map {
    in =>
      state.key = key
      state.restoreRows(in)
      summary.foreach(found => state.operation.clock.reach(found.passed))
      state
  }
}

object StoredGroups {

  /** The groups of a partition. Refuses the state of another query. */
  def in(stored: StoredKeep, store: ReadStateStore): StoredGroups = StateErrors.translated {
    val groups = StateGroupStore.readOnly(store, stored.keys)
    val summary = PartitionSummary.of(groups.partition)
    summary.foreach { found =>
      if (StateIdentity.check(found.identity, stored.identity).outcome != Outcome.Continues) {
        throw new CorruptStateException(
          "the metadata of the checkpoint are not those of the query that stored the state")
      }
    }
    new StoredGroups(stored, groups, summary)
  }

  private object NoHost extends CrossGroupMachines.Host[UnsafeRow] {
    override def open(group: UnsafeRow): Machine = throw new UnsupportedOperationException
    override def drop(group: UnsafeRow): Unit = ()
  }
}
