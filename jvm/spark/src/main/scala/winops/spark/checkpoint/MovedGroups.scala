package winops.spark.checkpoint

import org.apache.spark.sql.execution.streaming.state.StateStore

import winops.spark.state.{GroupPiece, PartitionSummary, StateGroupStore, StoredPartitionState}
import winops.window.time.Clock

/** Writes groups that are moved from other partitions. */
object MovedGroups {

  /** Stores the groups as a partition, counts them and registers their timers.
    *
    * @param pieces
    *   all stored pieces of the groups
    * @param buckets
    *   number of buckets among which groups with short values are divided
    * @param before
    *   summary of one of the partitions that the groups come from
    * @return
    *   number of groups, and number of their rows
    */
  def enter(
      stored: StoredKeep,
      store: StateStore,
      pieces: Iterator[GroupPiece],
      buckets: Long,
      before: PartitionSummary): (Long, Long) = {
    val groups = StateGroupStore.ofMoved(store, stored.keys, buckets)
    pieces.foreach(groups.put)
    val partition = new StoredPartitionState(
      groups.partition,
      stored.identity,
      stored.keys.size,
      before.passed,
      Option.when(before.idle != Clock.Never)(before.idle),
      Iterator.empty,
      isFlushed = before.isFlushed,
      historyRead = before.history)
    new StoredGroups(stored, groups, Some(before)).each.foreach { group =>
      partition.count(1, group.held, group.waiting)
      Seq(group.registeredTimer, group.reachTimer).filter(_ != Clock.Never).foreach {
        partition.register(_, group.key)
      }
    }
    partition.save()
    groups.finish()
    (partition.groupsRemembered, partition.rowsHeld)
  }
}
