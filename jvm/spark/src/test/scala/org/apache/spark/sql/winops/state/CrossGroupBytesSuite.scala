package org.apache.spark.sql.winops.state

import java.io.File
import java.util.UUID

import scala.util.Random

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.winops.testing.TaskTest

import winops.spark.execution.StreamTask
import winops.spark.group.BatchTimes
import winops.spark.internal.KeepMetrics
import winops.spark.plan.{Application, KeepPlan}
import winops.spark.row.RowShape
import winops.spark.state.{StateGroupStore, StateIdentity, StateTimerService, WholeGroupStore}
import winops.spark.testing.{Arrived, DrivenTask, KeepPlans, KeepStreamTest}
import winops.text.esper.Esper
import winops.text.spl.Spl

/** The bytes that a micro-batch of groups that depend on each other writes and reads. */
class CrossGroupBytesSuite extends KeepStreamTest with TaskTest {
  import CrossGroupBytesSuite._

  Policies.foreach { policy =>
    test(s"$policy: a batch costs the same beside 1,000 and beside 20,000 groups") {
      withTempDir { dir =>
        val conf = StateStoreConf(spark.sessionState.conf)
        val folder = dir.getPath
        inTask { _ =>
          val (few, many) = (
            costsOf(new File(folder, "few"), conf, policy, groups = 1000),
            costsOf(new File(folder, "many"), conf, policy, groups = 20000))
          TaskTest.check(many.written <= 1.5 * few.written, s"written: $few, $many")
          TaskTest.check(many.read <= 1.5 * few.read, s"read: $few, $many")
          TaskTest.check(many.written <= 300, s"written for a row: $many")
        }
      }
    }
  }
}

private object CrossGroupBytesSuite {
  val Policies: Seq[String] = Seq(
    "sliding, count(3), count(1), partitioned, partitionCount(25000)",
    "sliding, time(3600), count(1), partitioned, tupleCount(999999)",
    "@Hint('reclaim_group_aged=86400') #groupwin(k)#time(3600)")

  private val Rows = 100
  private val SettlingBatches = 5
  private val MeasuredBatches = 10

  /** The bytes written and read for each input row. */
  final case class Costs(written: Double, read: Double)

  private def planOf(policy: String): KeepPlan = {
    val dialect = if (policy.startsWith("sliding")) Spl else Esper
    KeepPlans.plan(
      KeepPlans.spec(policy, Some(Application.Arrival), dialect = dialect),
      order = Seq(KeepPlans.n))
  }

  /** Fills the groups, then measures batches of rows of any group. */
  def costsOf(folder: File, conf: StateStoreConf, policy: String, groups: Int): Costs = {
    val state = new StoredState(folder, conf, planOf(policy))
    val random = new Random(groups)
    (0 until groups).grouped(1000).foreach(state.run)
    (0 until SettlingBatches).foreach(_ => state.run(Seq.fill(Rows)(random.nextInt(groups))))
    val (written, read) = (state.bytesWritten, state.bytesRead)
    (0 until MeasuredBatches).foreach(_ => state.run(Seq.fill(Rows)(random.nextInt(groups))))
    val rows = Rows.toDouble * MeasuredBatches
    Costs((state.bytesWritten - written) / rows, (state.bytesRead - read) / rows)
  }

  /** A store to which micro-batches are committed. */
  private final class StoredState(folder: File, conf: StateStoreConf, plan: KeepPlan) {
    private val schema = StateGroupStore.keySchema(plan.keys)
    private val provider = StateStoreProvider.createAndInit(
      StateStoreProviderId(StateStoreId(folder.getPath, 0, 0), UUID.randomUUID()),
      schema,
      StateGroupStore.valueSchema,
      NoPrefixKeyStateEncoderSpec(schema),
      useColumnFamilies = false,
      conf,
      new Configuration(),
      useMultipleValuesPerKey = false,
      None)
    private var version = 0L
    private var last = 0L

    var bytesWritten = 0L
    var bytesRead = 0L

    def run(keys: Seq[Int]): Unit = {
      val store = provider.getStore(version, None)
      val groups = new StateGroupStore(store, plan.keys, inOrder = false)
      val rows = keys.map { key =>
        last += 1
        Arrived(key.toLong, Some(last * 10000), last, "a")
      }
      val times = BatchTimes.ofWatermarks(last * 10 - 1000, last * 10)
      val metrics = new KeepMetrics(DrivenTask.counters)
      val timers = new StateTimerService(
        groups.partition,
        StateIdentity.of(plan),
        plan.keys.size,
        times.now,
        None,
        Nil,
        RowShape.of(plan.keys))
      StreamTask
        .of(
          plan,
          KeepPlans.input,
          DrivenTask.grouped(plan, rows),
          times,
          groups,
          new WholeGroupStore(groups.partition),
          groups.records,
          timers,
          metrics)
        .foreach(_ => ())
      timers.save()
      groups.finish()
      store.commit()
      version += 1
      bytesWritten += groups.bytesWritten
      bytesRead += groups.bytesRead
    }
  }
}
