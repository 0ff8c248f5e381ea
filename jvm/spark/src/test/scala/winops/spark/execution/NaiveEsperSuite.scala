package winops.spark.execution

import scala.util.Random

import org.scalacheck.{Gen, Shrink}
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import winops.spark.plan.Application
import winops.spark.testing.{Arrived, Cases, DrivenTask, KeepPlans, NaiveEsper}
import winops.testing.TableTests
import winops.text.esper.Esper

/** Esper's windows, alone and in random combinations, against a model that implements only the
  * rules.
  */
class NaiveEsperSuite extends TableTests with ScalaCheckPropertyChecks {
  import KeepPlans._
  import GroupTaskSuite.byGroup
  import NaiveEsper.{millis, Row, Window}
  import NaiveEsperSuite._
  import WindowsPropertySuite.randomRows

  // A smaller seed is not a simpler case, so shrinking is disabled.
  implicit private def noShrink[A]: Shrink[A] = Shrink.shrinkAny

  (views ++ batches :+ firstTime).foreach { case (policy, model) =>
    testEach(s"$policy does what its rules say", short = 1)(Cases(12), Cases(60)) { cases =>
      forAll(
        Gen.oneOf(Application.all),
        Gen.choose(1, 150),
        Gen.long,
        minSuccessful(cases.count)) { (application, count, seed) =>
        check(policy, model, application, count, seed)
      }
    }
  }

  testEach("a row leaves an intersection when the first window evicts it", short = 1)(
    Cases(80),
    Cases(400)) { cases =>
    forAll(
      severalOf(views),
      Gen.oneOf(Application.all),
      Gen.choose(1, 150),
      Gen.long,
      minSuccessful(cases.count)) { (windows, application, count, seed) =>
      val model = NaiveEsper.Intersection(windows.map(_._2))
      check(windows.map(_._1).mkString, model, application, count, seed)
    }
  }

  test("a row that may not come in is not the newest for a condition that is asked again") {
    val windows =
      Seq("#firstunique(text)", "#expr(newest_event.n - oldest_event.n < 9)", "#unique(text)")
    val known = views.toMap
    val model = NaiveEsper.Intersection(windows.map(known).toList)
    check(windows.mkString, model, Application.EventTime, 90, -5475046382051680817L)
  }

  testEach("beside a batch other windows evict its rows without a change", short = 1)(
    Cases(80),
    Cases(400)) { cases =>
    forAll(
      besideBatch,
      Gen.oneOf(Application.all),
      Gen.choose(1, 150),
      Gen.long,
      minSuccessful(cases.count)) { case ((windows, batch), application, count, seed) =>
      val model = NaiveEsper.BatchIntersection(windows.map(_._2), batch)
      check(windows.map(_._1).mkString, model, application, count, seed)
    }
  }

  testEach("a row leaves a union when the last window evicts it", short = 1)(
    Cases(80),
    Cases(400)) { cases =>
    forAll(
      severalOf(views ++ batches :+ firstTime),
      Gen.oneOf(Application.all),
      Gen.choose(1, 150),
      Gen.long,
      minSuccessful(cases.count)) { (windows, application, count, seed) =>
      val model = NaiveEsper.Union(windows.map(_._2))
      check(windows.map(_._1).mkString + " retain-union", model, application, count, seed)
    }
  }

  private def check(
      policy: String,
      model: Window,
      application: Application,
      count: Int,
      seed: Long): Unit = {
    val rows = randomRows(new Random(seed), count)
    val end = rows.map(millis).max + 10000
    val real =
      byGroup(
        DrivenTask
          .table(plan(spec(policy, Some(application), dialect = Esper), Seq(n)), rows, Some(end)))
    rows.groupBy(_.k).foreach { case (k, ofGroup) =>
      val expected = NaiveEsper.changes(model, applied(ofGroup, application), end)
      val got = real.getOrElse(k, Nil)
      val same = expected.zip(got).takeWhile { case (a, b) => a == b }.size
      assert(got.drop(same).take(Shown) == expected.drop(same).take(Shown), s"in $policy")
    }
  }

  /** Rows in the order and at the instants in which they are applied. */
  private def applied(rows: Seq[Arrived], application: Application): Seq[Row] =
    application match {
      case Application.EventTime =>
        rows.sortBy(row => (row.micros, row.n)).map(row => Row(row, millis(row)))
      case Application.Arrival =>
        val sorted = rows.sortBy(_.n)
        sorted.zip(sorted.map(millis).scanLeft(Long.MinValue)(Math.max).tail).map {
          case (row, at) => Row(row, at)
        }
    }
}

private object NaiveEsperSuite {
  import NaiveEsper.{firstTime => _, _}

  /** The number of changes to show, from the first difference on. */
  private val Shown = 12

  private val views: Seq[(String, Window)] = Seq(
    "#length(1)" -> length(1),
    "#length(7)" -> length(7),
    "#time(1 sec)" -> time(1000),
    "#time(250 msec)" -> time(250),
    "#ext_timed(ts, 400 msec)" -> extTimed(400),
    "#time_accum(300 msec)" -> timeAccum(300),
    "#keepall" -> keepall,
    "#firstlength(5)" -> firstLength(5),
    "#firstunique(text)" -> firstUnique(_.text),
    "#lastevent" -> length(1),
    "#unique(text)" -> unique(_.text),
    "#sort(4, text desc, n)" -> sort(
      4,
      (a, b) => a.text > b.text || a.text == b.text && a.n < b.n),
    "#sort(3, text)" -> sort(3, _.text < _.text),
    "#rank(text, 2, n desc)" -> rank(_.text, 2, _.n > _.n),
    "#rank(n % 5, 3, text)" -> rank(_.n % 5, 3, _.text < _.text),
    "#time_order(ts, 700 msec)" -> timeOrder(700),
    "#time_order(ts, 150 msec)" -> timeOrder(150),
    "#timetolive(ts)" -> timeOrder(0),
    "#expr(newest_event.n - oldest_event.n < 9)" -> expr((rows, _) =>
      rows.last.n - rows.head.n < 9),
    "#expr(count(*) <= 6 or newest_event.text = 'a')" -> expr((rows, _) =>
      rows.size <= 6 || rows.last.text == "a"),
    "#expr(expired_count >= 1 or newest_event.n % 4 <> 3)" -> expr((rows, expired) =>
      expired >= 1 || rows.last.n % 4 != 3),
    "#expr(current_count <= 5 or expired_count = 2)" -> expr((rows, expired) =>
      rows.size <= 5 || expired == 2))

  private val batches: Seq[(String, Window)] = Seq(
    "#length_batch(3)" -> lengthBatch(3),
    "#time_batch(500 msec)" -> timeBatch(500),
    "#time_batch(1 sec, 0L, 'FORCE_UPDATE')" -> timeBatch(1000, Some(0), forced = true),
    "#ext_timed_batch(ts, 600 msec)" -> extTimedBatch(600),
    "#time_length_batch(400 msec, 4)" -> timeLengthBatch(400, 4),
    "#expr_batch(newest_event.text = 'b')" -> exprBatch(_.last.text == "b"))

  private val firstTime: (String, Window) = "#firsttime(2 sec)" -> NaiveEsper.firstTime(2000)

  def severalOf(windows: Seq[(String, Window)]): Gen[List[(String, Window)]] =
    Gen.choose(2, 3).flatMap(Gen.listOfN(_, Gen.oneOf(windows)))

  /** Windows, with the index of the batch window. */
  val besideBatch: Gen[(List[(String, Window)], Int)] = for {
    windows <- severalOf(views)
    batch <- Gen.oneOf(batches)
    place <- Gen.choose(0, windows.size - 1)
  } yield (windows.updated(place, batch), place)
}
