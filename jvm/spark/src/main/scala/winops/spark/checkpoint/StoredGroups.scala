package winops.spark.checkpoint

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.ReadStateStore

import winops.spark.execution.CrossGroupTask
import winops.spark.group.GroupState
import winops.spark.plan.KeepPlan
import winops.spark.state.{PartitionState, StateFormat, StateGroupStore, StateIdentity, WholeGroupStore}
import winops.storage.bytes.CorruptStateException
import winops.window.changes.{ChangeQueue, Steps}
import winops.window.crossgroup.CrossGroupMachines
import winops.window.machine.Machine
import winops.window.time.Clock

/** The groups in one partition of the state of a `keep`, one open after the other.
  *
  * Nothing that is done to an open group is stored.
  *
  * @param summary
  *   what the partition says of itself; none before its first batch
  */
final class StoredGroups(
    stored: StoredKeep,
    groups: StateGroupStore,
    val summary: Option[PartitionState.Summary]) {

  /** Returns true if what happens to one group depends on the others. */
  val isCrossGroup: Boolean = WholeGroupStore.isIn(groups.partition)

  val plan: KeepPlan = stored.plan(summary.fold(Clock.Never)(_.idle))

  /** What the machine of the open group tells. */
  val changes = new ChangeQueue

  private val steps =
    new Steps(changes, plan.spec.policy.stream.copy(inserts = true, deletes = true))

  /** The group that is open. */
  val state = new GroupState(plan, groups, steps, ownsSteps = !isCrossGroup)

  /** Among how many entries the groups with short values are divided. */
  def buckets: Long = groups.numberOfBuckets

  /** Opens all groups, one by one. */
  def each: Iterator[GroupState] = groups.each.map(open)

  /** What belongs to all groups together, among it the rows that wait. */
  def common: Option[GroupState] = Option.when(isCrossGroup) {
    val whole = new WholeGroupStore(groups.partition)
    val all = new GroupState(plan, whole, steps, ownsSteps = false, ofAll = Some(() => state))
    val in = whole.open(CrossGroupTask.NoKey)
    val machines =
      new CrossGroupMachines[UnsafeRow](plan.spec.policy, steps, StoredGroups.NoHost)
    CrossGroupTask.restoreGroups(in, machines, steps, stored.keys)
    all.restoreRows(in)
    all
  }

  private def open(key: UnsafeRow): GroupState = {
    state.key = key
    val in = groups.open(key)
    if (in == null) throw new CorruptStateException("a group is not found by its key")
    state.restoreRows(in)
    summary.foreach(found => state.machine.reach(found.passed))
    state
  }
}

object StoredGroups {

  /** The groups of a partition; the state of another `keep` is refused. */
  def in(stored: StoredKeep, store: ReadStateStore): StoredGroups = StateFormat.reading {
    val groups = StateGroupStore.readOnly(store, stored.keys)
    val summary = PartitionState.summary(groups.partition)
    summary.foreach(found => StateIdentity.check(found.identity, stored.identity))
    new StoredGroups(stored, groups, summary)
  }

  private object NoHost extends CrossGroupMachines.Host[UnsafeRow] {
    override def open(group: UnsafeRow): Machine = throw new UnsupportedOperationException
    override def drain(group: UnsafeRow): Unit = ()
    override def drop(group: UnsafeRow): Unit = ()
  }
}
