package org.apache.spark.sql.winops.state

import java.io.File

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Cast}
import org.apache.spark.sql.catalyst.expressions.aggregate.Average
import org.apache.spark.sql.types.DoubleType
import org.apache.spark.sql.winops.testing.TaskTest

import winops.spark.analysis.WindowResults
import winops.spark.expressions.WindowAggregate
import winops.spark.plan.{KeepPlan, Output}
import winops.spark.testing.{Arrived, KeepPlans}
import winops.testing.{Longer, TableTests}

/** The bytes of windows of a number of rows and of aggregates over them. */
class StateBytesSuite extends StateBytesTest with TableTests {
  import StateBytesSuite._

  // docs/performance.md has the values measured: at most 70 bytes and 1.0 entries written, and 280
  // bytes read; with an average, 29 bytes more and 567 bytes read.
  test(
    "a row costs the same in windows of any length, if batches bring few rows of a group",
    Longer) {
    withStores { (folder, confs) =>
      def costs(name: String, shapes: Seq[(Int, Int)], planOf: Int => KeepPlan): Seq[Costs] =
        shapes.map { case (window, groups) =>
          costsOf(new File(folder, s"$name$window"), confs, planOf(window), window, groups)
        }
      val ofRows = costs("rows", Shapes, planOf)
      ofRows.foreach { costs =>
        TaskTest.check(costs.written <= 75, s"bytes written: $costs")
        TaskTest.check(costs.entries <= 1.2, s"entries: $costs")
      }
      val written = ofRows.map(_.written)
      TaskTest.check(written.max <= 1.3 * written.min, s"bytes written: $ofRows")
      checkRead(ofRows, most = 320)
      Seq(Output.WithColumns -> 10000, Output.Agg -> 1000).foreach { case (output, longest) =>
        val shapes = ShapesOfAggregates.filter(_._1 <= longest)
        val all = costs(output.toString, shapes, averageOf(_, output))
        all.foreach { costs =>
          val rows = ofRows.find(_.window == costs.window).get
          TaskTest.check(costs.written <= rows.written + 35, s"written: $costs, $rows")
        }
        checkRead(all, most = 650)
      }
    }
  }

  // docs/performance.md has the values measured: 23.5 and 19.0 bytes, 1.08 and 1.00 times as
  // much as values.
  testEach("runs of rows take little more room than one value of each group", short = 0)(
    (20, 25, 1.35),
    (100, 20, 1.2)) { case (window, mostBytes, most) =>
    withStores { (folder, confs) =>
      val of = new File(folder, window.toString)
      val ofValues = bytesOfValues(new File(of, "values"), confs, window, 1000)
      // The rows that filled the windows leave, so that all rows arrived in sparse batches.
      val ofRuns =
        costsOf(new File(of, "runs"), confs, planOf(window), window, 1000, window * 5 / 4).stored
      TaskTest.check(ofRuns <= mostBytes, s"$ofRuns bytes a row")
      TaskTest.check(ofRuns <= most * ofValues, s"$ofRuns bytes a row instead of $ofValues")
    }
  }
}

private[state] object StateBytesSuite {

  /** Pairs of a window's length and a number of groups. */
  val Shapes: Seq[(Int, Int)] =
    Seq(20 -> 1000, 100 -> 1000, 250 -> 600, 600 -> 400, 1000 -> 300, 10000 -> 60)

  /** The windows with aggregates of which docs/performance.md has the costs. */
  private val ShapesOfAggregates = Shapes.filter { case (window, _) =>
    Set(20, 100, 1000, 10000).contains(window)
  }

  private val FillingBatches = 3
  private val SettlingBatches = 12
  private val MeasuredBatches = 10

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
  def costsOf(
      folder: File,
      confs: StoredState.Confs,
      plan: KeepPlan,
      window: Int,
      groups: Int,
      settlingBatches: Int = SettlingBatches,
      measuredBatches: Int = MeasuredBatches): Costs = {
    val state = new StoredState(folder, confs, plan)
    val rows = new RandomRows(groups)
    (0 until FillingBatches).foreach { batch =>
      val each = window / FillingBatches + (if (batch == 0) window % FillingBatches else 0)
      state.run(rows.each(Seq.fill(each)(0 until groups).flatten))
    }
    (0 until settlingBatches).foreach(_ => state.run(rows.any(groups)))
    val before = state.sums
    (0 until measuredBatches).foreach(_ => state.run(rows.any(groups)))
    val sums = state.sums.since(before)
    val inputRows = groups.toDouble * measuredBatches
    Costs(
      window,
      sums.written / inputRows,
      sums.read / inputRows,
      sums.entriesWritten / inputRows,
      state.storedBytes / (groups.toDouble * window))
  }

  private def checkRead(all: Seq[Costs], most: Int): Unit = {
    all.foreach(costs => TaskTest.check(costs.read <= most, s"bytes read: $costs"))
    val read = all.filter(_.window >= 100).map(_.read)
    TaskTest.check(read.max <= 2 * read.min, s"bytes read: $all")
  }

  def planOf(window: Int): KeepPlan =
    KeepPlans.plan(KeepPlans.spec(s"KEEP $window ROWS"), order = Seq(KeepPlans.n))

  private def averageOf(window: Int, output: Output): KeepPlan = {
    val average =
      WindowAggregate(Average(Cast(KeepPlans.ts, DoubleType)), isDistinct = false, filter = None)
    val column = AttributeReference("mean", average.dataType)()
    KeepPlans.computing(planOf(window), output, WindowResults(Nil, Seq(average), Seq(column)))
  }

  /** The bytes of a snapshot per row if each group's rows are in the group's own value. */
  def bytesOfValues(folder: File, confs: StoredState.Confs, window: Int, groups: Int): Double = {
    val state = new StoredState(folder, confs, planOf(window))
    state.run(new RandomRows(groups).each(Seq.fill(window)(0 until groups).flatten))
    state.storedBytes / (groups.toDouble * window)
  }

  /** Rows of 48 bytes, 19 when packed, whose times and texts are random. */
  final class RandomRows(groups: Int) {
    private val random = new Random(groups)
    private var last = 0L

    def any(rows: Int): Seq[Arrived] = each(Seq.fill(rows)(random.nextInt(groups)))

    def each(keys: Seq[Int]): Seq[Arrived] =
      keys.map(k => row(k, last * 1000000 + random.nextInt(1000000)))

    /** A row of a group at a time in microseconds after the first. */
    def row(k: Int, micros: Long): Arrived = {
      last += 1
      val text = Seq.fill(8)(('a' + random.nextInt(26)).toChar).mkString
      Arrived(k.toLong, Some(StoredState.FirstMillis * 1000 + micros), last, text)
    }
  }
}
