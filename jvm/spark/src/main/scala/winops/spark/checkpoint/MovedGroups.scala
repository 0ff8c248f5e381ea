package winops.spark.checkpoint

import org.apache.spark.sql.execution.streaming.state.StateStore

import winops.spark.state.{GroupPiece, PartitionState, StateGroupStore}
import winops.window.time.Clock

/** Groups that have come from other partitions. */
object MovedGroups {

  /** Makes a partition of them: counts them, and enters them for when they are due.
    *
    * @param pieces
    *   all that is stored of them
    * @param buckets
    *   among how many entries those with short values are divided
    * @param before
    *   what one of the partitions they came from said of itself
    * @return
    *   how many groups there are, and how many rows they hold
    */
  def enter(
      stored: StoredKeep,
      store: StateStore,
      pieces: Iterator[GroupPiece],
      buckets: Long,
      before: PartitionState.Summary): (Long, Long) = {
    val groups = StateGroupStore.ofMoved(store, stored.keys, buckets)
    pieces.foreach(groups.put)
    val partition = new PartitionState(
      groups.partition,
      stored.identity,
      stored.keys.size,
      before.passed,
      Option.when(before.idle != Clock.Never)(before.idle),
      Nil)
    new StoredGroups(stored, groups, Some(before)).each.foreach { group =>
      partition.count(1, group.held, group.waiting.size)
      if (group.registeredTimer != Clock.Never) partition.register(group.registeredTimer, group.key)
    }
    partition.save()
    groups.finish()
    (partition.groupsRemembered, partition.rowsHeld)
  }
}
