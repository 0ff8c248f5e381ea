package winops.spark.checkpoint

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.ReadStateStore

import winops.spark.execution.CrossGroupTask
import winops.spark.group.GroupState
import winops.spark.plan.KeepPlan
import winops.spark.state.{PartitionSummary, StateErrors, StateGroupStore, StateIdentity, WholeGroupStore}
import winops.storage.bytes.CorruptStateException
import winops.window.changes.{ChangeQueue, Steps}
import winops.window.crossgroup.CrossGroupMachines
import winops.window.machine.Machine
import winops.window.time.Clock

/** Reads the groups in one partition of the state of a `keep`, one open at a time.
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

  val plan: KeepPlan = stored.plan(summary.fold(Clock.Never)(_.idle))

  /** Queue of the changes that the open group's machine emits. */
  val changes = new ChangeQueue

  private val steps = new Steps(
    changes,
    plan.spec.policy.stream.copy(inserts = true, deletes = true),
    ignoresReports = true)

  /** The open group. */
  val state = new GroupState(plan, groups, steps, ownsSteps = !isCrossGroup)

  /** The number of buckets among which groups with short values are divided. */
  def buckets: Long = groups.numberOfBuckets

  /** Opens all groups one by one, each in [[state]]. */
  def each: Iterator[GroupState] = groups.each.map(open)

  /** Opens the groups that a filter accepts one by one, each in [[state]]. Entries of other
    * groups are not read if the filter names the keys.
    */
  def each(filter: GroupFilter): Iterator[GroupState] = filter.keys match {
    case Some(keys) => keys.iterator.filter(filter.accepts).flatMap(find)
    case None => groups.each.filter(filter.accepts).map(open)
  }

  /** The state that all groups share, including the waiting rows; `None` if groups are
    * independent.
    */
  def common: Option[GroupState] = Option.when(isCrossGroup) {
    val whole = new WholeGroupStore(groups.partition, groups.pageMemory)
    val all = new GroupState(plan, whole, steps, ownsSteps = false, ofAll = Some(() => state))
    val in = whole.open(CrossGroupTask.NoKey)
    val host = StoredGroups.NoHost
    val machines =
      CrossGroupTask.machinesOf(plan, stored.keys, steps, whole, groups.records, host)
    CrossGroupTask.restoreGroups(in, machines, steps)
    all.restoreRows(in)
    all
  }

  private def open(key: UnsafeRow): GroupState = find(key).getOrElse {
    throw new CorruptStateException("a group is not found by its key")
  }

  private def find(key: UnsafeRow): Option[GroupState] = Option(groups.open(key)).map { in =>
    state.key = key
    state.restoreRows(in)
    summary.foreach(found => state.machine.reach(found.passed))
    state
  }
}

object StoredGroups {

  /** The groups of a partition. Refuses the state of another `keep`. */
  def in(stored: StoredKeep, store: ReadStateStore): StoredGroups = StateErrors.translated {
    val groups = StateGroupStore.readOnly(store, stored.keys)
    val summary = PartitionSummary.of(groups.partition)
    summary.foreach(found => StateIdentity.check(found.identity, stored.identity))
    new StoredGroups(stored, groups, summary)
  }

  private object NoHost extends CrossGroupMachines.Host[UnsafeRow] {
    override def open(group: UnsafeRow): Machine = throw new UnsupportedOperationException
    override def drop(group: UnsafeRow): Unit = ()
  }
}
