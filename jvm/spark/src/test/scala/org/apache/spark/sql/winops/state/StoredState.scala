package org.apache.spark.sql.winops.state

import java.io.File
import java.util.UUID

import org.apache.commons.io.FileUtils
import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.execution.streaming.state._

import winops.spark.execution.{ArrivedRows, StoredTask}
import winops.spark.group.BatchTimes
import winops.spark.internal.KeepMetrics
import winops.spark.plan.KeepPlan
import winops.spark.state.{StateGroupStore, StateIdentity}
import winops.spark.testing.{Arrived, DrivenTask, KeepPlans}

/** A state store on disk to which a task's micro-batches are committed. */
private[state] final class StoredState(folder: File, conf: StoredState.Confs, plan: KeepPlan) {
  private val schema = StateGroupStore.keySchema(plan.keys)
  private val identity = StateIdentity.of(plan)
  private val provider = providerIn(folder, conf.changelogs)
  private var version = 0L

  private var changelogs = 0L
  private var bytesRead = 0L
  private var entriesRead = 0L
  private var entriesWritten = 0L
  private var bytesWritten = 0L
  private var groupsStored = 0L

  /** The sums over all micro-batches. */
  def sums: StoredState.Sums =
    StoredState.Sums(changelogs, bytesWritten, bytesRead, entriesRead, entriesWritten)

  /** The number of groups in the state. */
  def groups: Long = groupsStored

  /** Runs a micro-batch of a stream without a time column. */
  def run(rows: Seq[Arrived]): Unit =
    run(rows, BatchTimes.ofBatch(StoredState.FirstMillis + version * 1000))

  /** Runs a micro-batch and commits it. */
  def run(rows: Seq[Arrived], times: BatchTimes): Unit = {
    val store = provider.getStore(version, None)
    val task = new StoredTask(
      plan,
      identity,
      KeepPlans.input,
      ArrivedRows.byGroup(DrivenTask.grouped(plan, rows)),
      times,
      store,
      new KeepMetrics(DrivenTask.counters))
    task.output.foreach(_ => ())
    task.save()
    groupsStored = task.partition.groupsRemembered
    val groups = task.groups
    store.commit()
    version += 1
    bytesWritten += groups.bytesWritten
    bytesRead += groups.bytesRead
    entriesRead += groups.entriesRead
    entriesWritten += groups.entriesPut + groups.entriesRemoved
    changelogs +=
      new File(idIn(folder).storeCheckpointLocation().toString, s"$version.changelog").length
  }

  private def idIn(folder: File): StateStoreId = StateStoreId(folder.getPath, 0, 0)

  private def providerIn(folder: File, conf: StateStoreConf): StateStoreProvider =
    StateStoreProvider.createAndInit(
      StateStoreProviderId(idIn(folder), UUID.randomUUID()),
      schema,
      StateGroupStore.valueSchema,
      NoPrefixKeyStateEncoderSpec(schema),
      useColumnFamilies = false,
      conf,
      new Configuration(),
      useMultipleValuesPerKey = false,
      None)

  /** The bytes of a snapshot's files that have all entries once. */
  def storedBytes: Long = {
    val copy = providerIn(new File(folder, "copy"), conf.snapshots)
    val (from, to) = (provider.getReadStore(version, None), copy.getStore(0, None))
    try {
      from.iterator(StateStore.DEFAULT_COL_FAMILY_NAME).foreach { entry =>
        to.put(entry.key, entry.value, StateStore.DEFAULT_COL_FAMILY_NAME)
      }
      to.commit()
    } finally from.release()
    val bytes = FileUtils.sizeOfDirectory(new File(folder, "copy"))
    copy.close()
    FileUtils.deleteDirectory(new File(folder, "copy"))
    bytes
  }
}

private[state] object StoredState {
  val FirstMillis = 1774742400000L

  /** The configurations of stores that commit changelogs, and of stores that commit snapshots. */
  final case class Confs(changelogs: StateStoreConf, snapshots: StateStoreConf)

  /** The costs of micro-batches.
    *
    * @param written
    *   the lengths of the changelogs in bytes
    * @param put
    *   the bytes of the entries written, before compression
    * @param read
    *   the bytes of the entries read
    * @param entriesWritten
    *   the number of entries written or removed
    */
  final case class Sums(
      written: Long,
      put: Long,
      read: Long,
      entriesRead: Long,
      entriesWritten: Long) {
    def since(before: Sums): Sums = Sums(
      written - before.written,
      put - before.put,
      read - before.read,
      entriesRead - before.entriesRead,
      entriesWritten - before.entriesWritten)
  }
}
