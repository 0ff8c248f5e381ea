package org.apache.spark.sql.winops.state

import java.io.File
import java.util.UUID

import scala.util.Random

import org.apache.commons.io.FileUtils
import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.winops.testing.TaskTest

import winops.spark.execution.KeepTask
import winops.spark.group.BatchTimes
import winops.spark.internal.KeepMetrics
import winops.spark.plan.KeepPlan
import winops.spark.state.{NoTimerService, StateGroupStore}
import winops.spark.testing.{Arrived, DrivenTask, KeepPlans, KeepStreamTest}

/** The bytes that a micro-batch writes to and reads from a store of RocksDB's with changelogs. */
class StateBytesSuite extends KeepStreamTest with TaskTest {
  import StateBytesSuite._

  private val settings = Seq(
    KeepStreamTest.rocksDb,
    Changelog -> "true",
    SQLConf.STATE_STORE_COORDINATOR_REPORT_SNAPSHOT_UPLOAD_LAG.key -> "false")

  private def confs: Confs = {
    val snapshots = spark.sessionState.conf.clone()
    snapshots.setConfString(Changelog, "false")
    Confs(StateStoreConf(spark.sessionState.conf), StateStoreConf(snapshots))
  }

  test("a row costs the same in windows of any length, if batches bring few rows of a group") {
    withSQLConf(settings: _*) {
      withTempDir { dir =>
        val conf = confs
        val folder = dir.getPath
        inTask { _ =>
          val all = Shapes.map { case (window, groups) =>
            costsOf(new File(folder, window.toString), conf, window, groups)
          }
          all.foreach { costs =>
            TaskTest.check(costs.written <= 100, s"bytes written: $costs")
            TaskTest.check(costs.entries <= 2.2, s"entries: $costs")
          }
          val written = all.map(_.written)
          TaskTest.check(written.max <= 1.3 * written.min, s"bytes written: $all")
          val read = all.filter(_.window >= 100).map(_.read)
          TaskTest.check(read.max <= 2 * read.min, s"bytes read: $all")
        }
      }
    }
  }

  test("runs of rows take little more room than one value of each group") {
    withSQLConf(settings: _*) {
      withTempDir { dir =>
        val conf = confs
        val folder = dir.getPath
        inTask { _ =>
          Seq(20 -> 1.35, 100 -> 1.2).foreach { case (window, most) =>
            val of = new File(folder, window.toString)
            val ofValues = bytesOfValues(new File(of, "values"), conf, window, 1000)
            val ofRuns = costsOf(new File(of, "runs"), conf, window, 1000).stored
            TaskTest.check(ofRuns <= most * ofValues, s"$ofRuns bytes a row instead of $ofValues")
          }
        }
      }
    }
  }
}

private object StateBytesSuite {
  val Changelog = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"

  /** Pairs of a window's length and a number of groups. */
  val Shapes: Seq[(Int, Int)] = Seq(20 -> 1000, 100 -> 1000, 1000 -> 300, 10000 -> 60)

  private val FillingBatches = 3
  private val SettlingBatches = 12
  private val MeasuredBatches = 10

  /** The configurations of stores that commit changelogs, and of stores that commit snapshots. */
  final case class Confs(changelogs: StateStoreConf, snapshots: StateStoreConf)

  /** The costs of an input row, in bytes and entries.
    *
    * @param written
    *   the length of the changelog
    * @param stored
    *   the bytes of a snapshot per row that the windows hold
    */
  final case class Costs(
      window: Int,
      written: Double,
      read: Double,
      entries: Double,
      stored: Double)

  /** Fills the windows, then measures batches of as many rows as there are groups, each of any
    * group.
    */
  def costsOf(folder: File, conf: Confs, window: Int, groups: Int): Costs = {
    val state = new StoredState(folder, conf, planOf(window))
    val rows = new RandomRows(groups)
    (0 until FillingBatches).foreach { batch =>
      val each = window / FillingBatches + (if (batch == 0) window % FillingBatches else 0)
      state.run(rows.each(Seq.fill(each)(0 until groups).flatten))
    }
    (0 until SettlingBatches).foreach(_ => state.run(rows.any(groups)))
    val before = (state.changelogBytes, state.bytesRead, state.entriesWritten)
    (0 until MeasuredBatches).foreach(_ => state.run(rows.any(groups)))
    val inputRows = groups.toDouble * MeasuredBatches
    Costs(
      window,
      (state.changelogBytes - before._1) / inputRows,
      (state.bytesRead - before._2) / inputRows,
      (state.entriesWritten - before._3) / inputRows,
      state.storedBytes / (groups.toDouble * window))
  }

  private def planOf(window: Int): KeepPlan =
    KeepPlans.plan(KeepPlans.spec(s"KEEP $window ROWS"), order = Seq(KeepPlans.n))

  /** The bytes of a snapshot per row if each group's rows are in the group's own value. */
  def bytesOfValues(folder: File, conf: Confs, window: Int, groups: Int): Double = {
    val state = new StoredState(folder, conf, planOf(window))
    state.run(new RandomRows(groups).each(Seq.fill(window)(0 until groups).flatten))
    state.storedBytes / (groups.toDouble * window)
  }

  /** Rows of 48 bytes, 19 when packed, whose times and texts are random. */
  private final class RandomRows(groups: Int) {
    private val random = new Random(groups)
    private var last = 0L

    def any(rows: Int): Seq[Arrived] = each(Seq.fill(rows)(random.nextInt(groups)))

    def each(keys: Seq[Int]): Seq[Arrived] = keys.map { k =>
      last += 1
      val text = Seq.fill(8)(('a' + random.nextInt(26)).toChar).mkString
      val time = 1774742400000000L + last * 1000000 + random.nextInt(1000000)
      Arrived(k.toLong, Some(time), last, text)
    }
  }

  /** A store to which micro-batches are committed, without timers. */
  final class StoredState(folder: File, conf: Confs, plan: KeepPlan) {
    private val schema = StateGroupStore.keySchema(plan.keys)
    private val provider = providerIn(folder, conf.changelogs)
    private var version = 0L

    var changelogBytes = 0L
    var bytesRead = 0L
    var entriesWritten = 0L

    def run(rows: Seq[Arrived]): Unit = {
      val store = provider.getStore(version, None)
      val groups = new StateGroupStore(store, plan.keys)
      val metrics = new KeepMetrics(DrivenTask.counters)
      val task = new KeepTask(
        plan,
        KeepPlans.input,
        DrivenTask.grouped(plan, rows),
        BatchTimes.ofBatch(1774742400000L + version * 1000),
        groups,
        new NoTimerService(metrics),
        metrics)
      task.foreach(_ => ())
      groups.finish()
      store.commit()
      version += 1
      bytesRead += groups.bytesRead
      entriesWritten += groups.entriesPut + groups.entriesRemoved
      changelogBytes +=
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
}
