package winops.spark.execution

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.streaming.state.StateStore

import winops.spark.group.BatchTimes
import winops.spark.internal.KeepMetrics
import winops.spark.plan.OperatorPlan
import winops.spark.row.RowShape
import winops.spark.state.{LargestGroups, PartitionSummary, StateErrors, StateGroupStore, StateIdentity, StoredPartitionState}

/** A task of a stream, with its state in a state store of Spark's.
  *
  * @param identity
  *   the identity of the plan, with which its state is stored
  * @param input
  *   the columns of the rows
  * @param rows
  *   the rows of the micro-batch, as they arrive
  * @param largestGroups
  *   receives the sizes of the groups that are processed
  */
final class StoredTask(
    plan: OperatorPlan,
    identity: String,
    input: Seq[Attribute],
    rows: ArrivedRows,
    times: BatchTimes,
    store: StateStore,
    metrics: KeepMetrics,
    largestGroups: LargestGroups = new LargestGroups(0)) {
  private val isCrossGroup = plan.spec.isCrossGroup
  private val readsHistory = times.history.exists(_.isRead)
  private val restart = plan.spec.restart.copy(hasHistory = readsHistory)

  /** The number of entries of a state that were removed because a table replaces it. */
  var entriesCleared: Long = 0L

  /** The watermark of a flush in that state. */
  private val flushedBefore: Option[Long] =
    if (readsHistory) StateErrors.translated(clear()) else None

  val groups = new StateGroupStore(store, plan.keys, inOrder = rows.areByGroup && !isCrossGroup)

  val partition = new StoredPartitionState(
    groups.partition,
    identity,
    plan.keys.size,
    times.now,
    plan.spec.idleMillis,
    groups.each,
    RowShape.of(plan.keys),
    groups.rankOf,
    takesAll = times.flushes && !isCrossGroup,
    isFlushed = times.flushes,
    largestGroups,
    restart,
    times.history,
    flushedBefore)

  // The partition of a cross-group window counts groups of which it may store no value.
  if (!isCrossGroup) StateErrors.translated(groups.checkSize(partition.groupsRemembered))

  private val ownTimes = times.in(partition)

  /** True if the stream has started with a table, and rows of it may still wait. */
  val followsHistory: Boolean = ownTimes.history.exists(_.passed.isEmpty)

  /** The output rows. */
  val output: OperatorTask = rows.task(plan, input, ownTimes, groups, partition, metrics)

  private def clear(): Option[Long] = {
    val former = new StateGroupStore(store, plan.keys)
    PartitionSummary.of(former.partition).flatMap { summary =>
      val _ = StateIdentity.check(summary.identity, identity, restart)
      former.clear()
      entriesCleared = former.entriesRemoved
      Option.when(summary.isFlushed)(summary.passed)
    }
  }

  /** Writes what is to be committed, after the last output row. */
  def save(): Unit = {
    partition.save()
    StateErrors.translated(groups.finish())
  }
}
