package org.apache.spark.sql.winops.state

import java.io.File
import java.util.UUID

import scala.util.Random

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.winops.testing.TaskTest

import winops.spark.execution.KeepTask
import winops.spark.group.BatchTimes
import winops.spark.internal.KeepMetrics
import winops.spark.plan.{KeepPlan, Output}
import winops.spark.state.{NoTimerService, StateGroupStore}
import winops.spark.testing.{Arrived, DrivenTask, KeepPlans, KeepStreamTest}

/** The bytes that a micro-batch writes to and reads from a store of RocksDB's with changelogs. */
class StateBytesSuite extends KeepStreamTest with TaskTest {
  import StateBytesSuite._

  private val settings = Seq(
    KeepStreamTest.rocksDb,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled" -> "true",
    SQLConf.STATE_STORE_COORDINATOR_REPORT_SNAPSHOT_UPLOAD_LAG.key -> "false")

  test("a row costs the same in windows of any length, if batches bring few rows of a group") {
    withSQLConf(settings: _*) {
      withTempDir { dir =>
        val conf = StateStoreConf(spark.sessionState.conf)
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
        val conf = StateStoreConf(spark.sessionState.conf)
        val folder = dir.getPath
        inTask { _ =>
          val ofValues = bytesOfValues(new File(folder, "values"), conf, 100, 1000)
          val ofRuns = costsOf(new File(folder, "runs"), conf, 100, 1000).stored
          TaskTest.check(ofRuns <= 1.2 * ofValues, s"$ofRuns instead of $ofValues bytes a row")
        }
      }
    }
  }
}

private object StateBytesSuite {

  /** Pairs of a window's length and a number of groups. */
  val Shapes: Seq[(Int, Int)] = Seq(20 -> 1000, 100 -> 1000, 1000 -> 300, 10000 -> 60)

  private val FillingBatches = 3
  private val SettlingBatches = 12
  private val MeasuredBatches = 10

  /** The costs of an input row, in bytes and entries.
    *
    * @param written
    *   the length of the changelog
    * @param stored
    *   the bytes of all entries per row that the windows hold
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
  def costsOf(folder: File, conf: StateStoreConf, window: Int, groups: Int): Costs = {
    val plan = KeepPlans.plan(KeepPlans.spec(s"KEEP $window ROWS"), order = Seq(KeepPlans.n))
    val state = new StoredState(folder, conf, plan)
    val rows = new RandomRows(groups)
    (0 until FillingBatches).foreach { batch =>
      val each = window / FillingBatches + (if (batch == 0) window % FillingBatches else 0)
      state.run(rows.each((0 until groups).flatMap(k => Seq.fill(each)(k))))
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

  /** The bytes of all entries per row if each group's rows are in the group's own value. */
  def bytesOfValues(folder: File, conf: StateStoreConf, window: Int, groups: Int): Double = {
    val spec = KeepPlans.spec(s"KEEP $window ROWS").copy(output = Output.Rows)
    val plan = KeepPlans.plan(spec, order = Seq(KeepPlans.n)).copy(changeColumns = Nil)
    val state = new StoredState(folder, conf, plan)
    state.run(new RandomRows(groups).each((0 until groups).flatMap(k => Seq.fill(window)(k))))
    state.storedBytes / (groups.toDouble * window)
  }

  /** Rows of 48 bytes, whose times and texts are random. */
  private final class RandomRows(groups: Int) {
    private val random = new Random(groups)
    private var last = 0L

    def any(rows: Int): Seq[Arrived] = each(Seq.fill(rows)(random.nextInt(groups)))

    def each(keys: Seq[Int]): Seq[Arrived] = keys.map { k =>
      last += 1
      val text = Seq.fill(4)(('a' + random.nextInt(26)).toChar).mkString
      Arrived(k.toLong, Some(1774742400000000L + last * 1000 + random.nextInt(1000)), last, text)
    }
  }

  /** A store to which micro-batches are committed, without timers. */
  private final class StoredState(folder: File, conf: StateStoreConf, plan: KeepPlan) {
    private val schema = StateGroupStore.keySchema(plan.keys)
    private val id = StateStoreId(folder.getPath, 0, 0)
    private val provider = StateStoreProvider.createAndInit(
      StateStoreProviderId(id, UUID.randomUUID()),
      schema,
      StateGroupStore.valueSchema,
      NoPrefixKeyStateEncoderSpec(schema),
      useColumnFamilies = false,
      conf,
      new Configuration(),
      useMultipleValuesPerKey = false,
      None)
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
        new File(id.storeCheckpointLocation().toString, s"$version.changelog").length
    }

    /** The bytes of all entries. */
    def storedBytes: Long = {
      val store = provider.getReadStore(version, None)
      try {
        store
          .iterator(StateStore.DEFAULT_COL_FAMILY_NAME)
          .map(entry => entry.key.getSizeInBytes.toLong + entry.value.getSizeInBytes)
          .sum
      } finally store.release()
    }
  }
}
