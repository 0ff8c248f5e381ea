package winops.spark.restart

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.streaming.StreamingQueryException

import winops.spark.plan.Application
import winops.spark.testing.{KeepStreamTest, RandomProperties, RandomWindow, RandomWindows, Reading, Readings, Tick}

/** Restarts with another window whose rows are carried over, by `on_change => 'carry'`. */
class CarriedRowsSuite extends KeepStreamTest with RandomProperties {
  import CarriedRowsSuite._
  import testImplicits._

  private def call(window: String, carries: Boolean = true): String =
    s"PARTITION BY (k) ORDER BY (n), $window, time => 'ts', apply => 'arrival'" +
      (if (carries) ", on_change => 'carry'" else "")

  private val first =
    Seq(Tick("a", 1, 1), Tick("a", 2, 2), Tick("a", 3, 3), Tick("b", 8, 4), Tick("z", 10, 5))

  /** The changes of group `a` in both starts. */
  private def carried(before: String, now: String, later: Tick*): (Seq[Change], Seq[Change]) = {
    var changes = (Seq.empty[Change], Seq.empty[Change])
    withTempDir { folder =>
      val stream = ticks()
      stream.addData(first)
      val early = runAll(keep(timed(stream), call(before)), folder.getCanonicalPath).rows
      stream.addData(later)
      val late = runAll(keep(timed(stream), call(now)), folder.getCanonicalPath).rows
      changes = (changesOf(early), changesOf(late))
    }
    changes
  }

  private def changesOf(rows: Seq[Row]): Seq[Change] = rows
    .filter(_.getAs[String]("k") == "a")
    .sortBy(_.getAs[Long]("_change_seq"))
    .map(row =>
      (row.getAs[Long]("_change_seq"), row.getAs[String]("_change_type"), row.getAs[Int]("n")))

  test("rows that the new window does not keep are deleted, and numbers continue") {
    val (before, now) = carried("'KEEP 3 ROWS'", "esper => '#sort(2, n desc)'", Tick("a", 20, 9))
    assert(before.map(_._1) == Seq(0, 1, 2))
    assert(now == Seq((3, "delete", 1), (4, "insert", 9), (5, "delete", 2)))
  }

  test("rows enter a window of time with their own times") {
    val (_, now) = carried("'KEEP 3 ROWS'", "'KEEP 9 SECONDS'", Tick("z", 20, 9))
    assert(now == Seq((3, "delete", 1), (4, "delete", 2), (5, "delete", 3)))
  }

  test("a group that holds no rows keeps its numbers, and its silence goes on") {
    val idle = ", idle => '30 seconds'"
    val (before, now) = carried(
      "'KEEP 2 SECONDS'" + idle,
      "esper => '#firstlength(1)'" + idle,
      Tick("z", 20, 8),
      Tick("a", 21, 9),
      Tick("z", 60, 10))
    assert(before.map(_._1) == (0 until 6))
    assert(now == Seq((6, "insert", 9), (7, "delete", 9)))
  }

  test("rows that a window would take later are deleted, and inserted by its trigger") {
    val (_, now) = carried("'KEEP 3 ROWS'", "esper => '#length_batch(4)'", Tick("a", 20, 9))
    assert(now.take(3) == Seq((3, "delete", 1), (4, "delete", 2), (5, "delete", 3)))
    assert(now.drop(3).map(_._3) == Seq(1, 2, 3, 9))
  }

  test("without on_change the new window is refused, and the message says what to write") {
    withTempDir { folder =>
      val stream = ticks()
      stream.addData(first)
      val _ = runAll(keep(timed(stream), call("'KEEP 3 ROWS'")), folder.getCanonicalPath)
      stream.addData(Tick("a", 20, 9))
      val other = keep(timed(stream), call("esper => '#sort(2, n)'", carries = false))
      val error = failureOf(other, folder.getCanonicalPath)
      assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"))
      assert(error.getMessage.contains("on_change"))
    }
  }

  test("values of fill= stand in stored rows in the place of NULL") {
    withTempDir { folder =>
      val stream = ticks()
      stream.addData(first)
      val window = "PARTITION BY (k) ORDER BY (n), 'KEEP 3 ROWS'"
      val _ = runAll(keep(timed(stream), window), folder.getCanonicalPath)
      stream.addData(Tick("a", 20, 9))
      val wider = timed(stream).withColumn("price", $"n" * 2.5)
      val filled = keep(wider, s"$window, fill => named_struct('price', 7)")
      val deleted =
        runAll(filled, folder.getCanonicalPath).rows.filter(_.getString(0) == "delete")
      assert(deleted.map(_.getAs[Double]("price")) == Seq(7.0))
    }
  }

  (1 to Runs).foreach { run =>
    property(s"the changes before and after are those of one consumer: run $run") { random =>
      check(random)
    }
  }

  /** A consumer that applies all changes never deletes a row that it does not have, and ends with
    * the rows that the state has.
    */
  private def check(random: Random): Unit = {
    val windows = new RandomWindows(random)
    val all = windows.ccl ++ windows.apama ++ windows.esper ++ windows.large
    def draw(): RandomWindow =
      all(random.nextInt(all.size)).copy(time = Some(Application.Arrival))
    val (before, now) = (draw(), draw())
    val readings = Readings.random(random, Seq.fill(4)(1 + random.nextInt(80)))
    val (early, late) = readings.splitAt(1 + random.nextInt(readings.size - 1))
    withClue(s"from ${before.call} to ${now.call}: ") {
      withTempDir { folder =>
        val stream = memoryStream[Reading]
        val checkpoint = folder.getCanonicalPath
        def run(window: RandomWindow, rows: Seq[Reading]): Seq[Row] = {
          stream.addData(rows)
          val input = Readings.columns(stream.toDF()).withWatermark("ts", Readings.Disorder)
          runAll(keep(input, s"${window.callForChanges}, on_change => 'carry'"), checkpoint).rows
        }
        val changes = run(before, early) ++
          (try run(now, late)
          catch { case error: StreamingQueryException => fail(error.getMessage) })
        val held = changes.groupBy(_.getAs[Long]("k")).map { case (k, ofGroup) =>
          val sorted = ofGroup.sortBy(_.getAs[Long]("_change_seq"))
          assert(sorted.map(_.getAs[Long]("_change_seq")) == sorted.indices.map(_.toLong))
          k -> sorted.foldLeft(Set.empty[Long]) { (content, change) =>
            val n = change.getAs[Long]("n")
            if (change.getAs[String]("_change_type") == "insert") {
              assert(!content(n), s"row $n is inserted twice")
              content + n
            } else {
              assert(content(n), s"row $n is deleted and was not there")
              content - n
            }
          }
        }
        val stored = stateOf(checkpoint)
        // Rows that wait for a trigger are stored and not inserted; others wait to be deleted.
        if (!now.policy.contains("batch") && !now.policy.contains(" every ")) {
          held.foreach { case (k, content) => assert(content == stored.getOrElse(k, Set.empty)) }
        }
      }
    }
  }

  private def stateOf(checkpoint: String): Map[Long, Set[Long]] = {
    val rows: DataFrame = spark.sql(s"SELECT k, n FROM winops_state('$checkpoint')")
    rows.collect().groupBy(_.getLong(0)).map { case (k, of) => k -> of.map(_.getLong(1)).toSet }
  }
}

private object CarriedRowsSuite {
  type Change = (Long, String, Int)

  val Runs: Int = sys.props.get("changes").fold(8)(_.toInt)
}
