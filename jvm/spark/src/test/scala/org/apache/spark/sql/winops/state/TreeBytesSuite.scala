package org.apache.spark.sql.winops.state

import java.io.File

import scala.util.Random

import org.scalatest.Tag

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Cast}
import org.apache.spark.sql.catalyst.expressions.aggregate.{Average, Sum}
import org.apache.spark.sql.types.DoubleType
import org.apache.spark.sql.winops.testing.TaskTest

import winops.spark.analysis.WindowResults
import winops.spark.expressions.WindowAggregate
import winops.spark.plan.{KeepPlan, Output}
import winops.spark.testing.{Arrived, KeepPlans}
import winops.testing.Longer
import winops.text.esper.Esper

/** The bytes that a micro-batch writes to and reads from a store of RocksDB's with changelogs,
  * for windows that evict any row.
  */
class TreeBytesSuite extends StateBytesTest {
  import TreeBytesSuite._

  /** Asserts the bytes per row that the few rows of a batch write and read at most, and that they
    * make the state at most a fifth longer.
    */
  private def bounded(
      name: String,
      window: Int,
      rowsOfGroup: Int,
      written: Int,
      read: Int,
      tags: Tag*)(plan: => KeepPlan): Unit =
    test(s"$rowsOfGroup of $window rows of each group change: $name", tags: _*) {
      val planned = plan
      withStores { (folder, confs) =>
        val (filled, costs) = costsOf(folder, confs, planned, window, rowsOfGroup)
        TaskTest.check(costs.written <= written, s"bytes written: $costs")
        TaskTest.check(costs.read <= read, s"bytes read: $costs")
        TaskTest.check(costs.stored <= 1.2 * filled, s"$filled bytes a row at first: $costs")
      }
    }

  // docs/performance.md has the bytes measured, which are 76 to 91 % of the bounds.
  bounded("#sort", 10000, 20, written = 400, read = 3000, Longer)(sorted(10000))
  bounded("#sort", 1000, 1, written = 600, read = 5000)(sorted(1000))
  bounded("#rank", 1000, 1, written = 600, read = 5500, Longer)(ranked(1000))
  bounded("#unique", 1000, 1, written = 350, read = 3500, Longer)(planOf("#unique(text)"))
  bounded("aggregates over #sort", 1000, 1, written = 950, read = 7000, Longer)(
    averaged(sorted(1000)))
}

private object TreeBytesSuite {
  private val Rows = 100000
  private val MostGroups = 40
  private val FillingBatches = 3

  /** The number of batches in which pages become small. */
  private val SettlingBatches = 40
  private val MeasuredBatches = 20

  /** The range of the times of rows that arrive together. */
  private val Spread = 1 << 30

  private def planOf(policy: String): KeepPlan =
    KeepPlans.plan(KeepPlans.spec(policy, dialect = Esper), order = Seq(KeepPlans.n))

  private def sorted(window: Int): KeepPlan = planOf(s"#sort($window, ts)")
  private def ranked(window: Int): KeepPlan = planOf(s"#rank(text, $window, ts)")

  private def averaged(plan: KeepPlan): KeepPlan = {
    val functions = Seq(Average(Cast(KeepPlans.n, DoubleType)), Sum(KeepPlans.n))
    val values = functions.map(WindowAggregate(_, isDistinct = false, None))
    val columns = values.map(value => AttributeReference("value", value.dataType)())
    KeepPlans.computing(plan, Output.WithColumns, WindowResults(Nil, values, columns))
  }

  /** Fills the windows, then measures batches of this number of rows of each group. Returns the
    * bytes at rest per row of the full windows, and the costs.
    */
  private def costsOf(
      folder: File,
      confs: StoredState.Confs,
      plan: KeepPlan,
      window: Int,
      rowsOfGroup: Int): (Double, StateBytesSuite.Costs) = {
    val groups = Math.min(MostGroups, Rows / window)
    val state = new StoredState(folder, confs, plan)
    val rows = new RandomRows(window, groups)
    (0 until FillingBatches).foreach { batch =>
      val (from, until) = (window * batch / FillingBatches, window * (batch + 1) / FillingBatches)
      state.run(rows.filling(from, until))
    }
    val filled = state.storedBytes / (groups.toDouble * window)
    (0 until SettlingBatches).foreach(_ => state.run(rows.any(rowsOfGroup)))
    val before = state.sums
    (0 until MeasuredBatches).foreach(_ => state.run(rows.any(rowsOfGroup)))
    val sums = state.sums.since(before)
    val inputRows = groups.toDouble * rowsOfGroup * MeasuredBatches
    val costs = StateBytesSuite.Costs(
      window,
      sums.written / inputRows,
      sums.read / inputRows,
      sums.entriesWritten / inputRows,
      state.storedBytes / (groups.toDouble * window))
    (filled, costs)
  }

  /** Rows of random times, whose text is one of as many as a window has rows. */
  private final class RandomRows(window: Int, groups: Int) {
    private val random = new Random(groups)
    private val texts = random.shuffle((0 until window).map(i => f"$i%08d").toVector)
    private var last = 0L

    /** A row of each group for each of these texts. */
    def filling(from: Int, until: Int): Seq[Arrived] =
      for (text <- texts.slice(from, until); k <- 0 until groups) yield row(k, text)

    def any(rowsOfGroup: Int): Seq[Arrived] =
      for (k <- 0 until groups; _ <- 0 until rowsOfGroup)
        yield row(k, texts(random.nextInt(window)))

    private def row(k: Int, text: String): Arrived = {
      last += 1
      // Times decrease slowly, so that a full window that is sorted by time admits most rows.
      val least = 1774742400000000L - last * Spread / (2L * window * groups)
      Arrived(k.toLong, Some(least + random.nextInt(Spread)), last, text)
    }
  }
}
