package winops.window.machine

import scala.util.Random

import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import winops.policy.Policy
import winops.testing.{DrivenGroup, Input, RowValues}
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl
import winops.window.expression.Evaluator

/** Random windows and combinations, with rows that windows refuse, stored and restored. */
class StoredMachineSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import StoredMachineSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 400)

  /** A part of a text is not a policy, and a smaller seed is not a simpler case. */
  implicit private def noShrink[T]: Shrink[T] = Shrink.shrinkAny

  private val idle = Gen.option(Gen.choose(1L, 90L))

  test("a machine that is stored after each step and serves other groups gives the same steps") {
    forAll(policies, idle, Input.sequences, Input.sequences, Gen.long) {
      (text, idle, inputs, other, seed) =>
        val fresh = new DrivenGroup(policyOf(text), idle, evaluator(seed))
        val stored = new DrivenGroup(policyOf(text), idle, evaluator(seed), pageBytes = 0L)
        val random = new Random(seed)
        inputs.foreach { input =>
          assert(stored.feed(input) == fresh.feed(input))
          if (!stored.isAlive) input match {
            // A group that does not exist after a row has refused its first row.
            case Input.Row(_) => stored.drop()
            case Input.Time(_) => stored.dropForgotten()
          }
          if (random.nextBoolean()) stored.restore(stored.save())
          else {
            val some = other.take(random.nextInt(9))
            val alone = new DrivenGroup(policyOf(text), idle, evaluator(seed))
            assert(stored.serve(some, firstRow = 1000) == alone.serve(some, firstRow = 1000))
          }
        }
        assert(stored.contents == fresh.contents)
        assert(stored.nextDue == fresh.nextDue)
    }
  }

  test("a row without a timestamp changes nothing in any combination") {
    val inOrder = Input.sequences.map(_.sortBy(_.at))
    forAll(timestamped, idle, inOrder, Gen.long) { (text, idle, inputs, seed) =>
      val rows = inputs.collect { case row: Input.Row => row }.indices
      val kept = rows.filter(values(seed, _).ts.isDefined)
      val all = new DrivenGroup(policyOf(text), idle, evaluator(seed))
      val others = new DrivenGroup(
        policyOf(text),
        idle,
        rowAt => new RowValues.Expressions(row => values(seed, kept(rowAt(row)))))
      var row = 0
      inputs.foreach { input =>
        val emitted = input match {
          case Input.Row(at) =>
            row += 1
            // The group's clock advances with every row.
            if (kept.contains(row - 1)) others.feed(input) else others.feed(Input.Time(at))
          case Input.Time(_) => others.feed(input)
        }
        assert(all.feed(input) == emitted.map(change =>
          if (change.row == DrivenGroup.NoRow) change else change.copy(row = kept(change.row))))
      }
      assert(all.content == others.content.map(kept))
    }
  }
}

private object StoredMachineSuite {
  private val timed = Seq(
    "#ext_timed(ts, 15 msec)",
    "#ext_timed(ts, 0 sec)",
    "#time_order(ts, 25 msec)",
    "#timetolive(ts)")

  /** Windows that rows enter one by one. */
  val views: Seq[String] =
    timed ++ RowValues.conditions.keys.toSeq.sorted.map(c => s"#expr($c)") ++
      Seq(
        "#length(1)",
        "#length(4)",
        "#time(20 msec)",
        "#time_accum(12 msec)",
        "#keepall",
        "#firstlength(3)",
        "#firsttime(60 msec)",
        "#firsttime(0 sec)",
        "#time_accum(0 sec)",
        "#firstunique(k)",
        "#unique(k)",
        "#sort(3, v)",
        "#rank(k, 2, v)")

  private val timedBatch = "#ext_timed_batch(ts, 15 msec)"

  /** Windows that rows enter in batches. */
  val batches: Seq[String] = Seq(
    timedBatch,
    "#length_batch(3)",
    "#time_batch(15 msec)",
    "#time_length_batch(12 msec, 4)",
    "#expr_batch(newest_event.v >= v, false)",
    "#expr_batch(newest_timestamp - oldest_timestamp < 30)")

  private val others: Seq[(Dialect, String)] = Seq(
    Apama -> "within 0.02 every 0.015",
    Apama -> "retain 3 every 2",
    Apama -> "retain 4 with unique k",
    Apama -> "within 0.02 every 0.01 retain 3 with unique v",
    Spl -> "tumbling, count(3)",
    Spl -> "tumbling, time(0.02)",
    Spl -> "tumbling, delta(ts, 0.03)",
    Spl -> "sliding, count(3), count(2)",
    Spl -> "sliding, count(3), time(0.015)",
    Spl -> "sliding, time(0.02), delta(ts, 0.01)",
    Spl -> "sliding, delta(v, 1), count(2)",
    Ccl -> "KEEP 3 ROWS SLACK 2",
    Ccl -> "KEEP EVERY 20 MILLISECONDS")

  private def combinationsWith(window: Gen[String]): Gen[(Dialect, String)] = for {
    first <- window
    more <- Gen.choose(0, 3).flatMap(Gen.listOfN(_, Gen.oneOf(views)))
    batch <- Gen.option(Gen.oneOf(batches))
    isUnion <- Gen.oneOf(true, false)
    isBatch = batches.contains(first)
    windows <- Gen
      .pick(more.size + 1, first +: more)
      .map(_.toSeq ++ batch.filterNot(_ => isBatch || more.isEmpty))
  } yield Esper -> (windows.mkString + (if (isUnion && windows.size > 1) " retain-union" else ""))

  val policies: Gen[(Dialect, String)] =
    Gen.frequency(6 -> combinationsWith(Gen.oneOf(views ++ batches)), 1 -> Gen.oneOf(others))

  /** Combinations with a window that reads a timestamp. */
  val timestamped: Gen[(Dialect, String)] = combinationsWith(Gen.oneOf(timed :+ timedBatch))

  private def policyOf(text: (Dialect, String)): Policy = RowValues.policy(text._1, text._2)

  /** The values of a row by its number. */
  def values(seed: Long, number: Int): RowValues = {
    val random = new Random(seed * 31 + number)
    RowValues(
      random.nextInt(3),
      Option.when(random.nextInt(8) > 0)(random.nextInt(4)),
      Option.when(random.nextInt(5) > 0)(number * 4L + random.nextInt(60) - 30))
  }

  def evaluator(seed: Long): (Long => Int) => Evaluator = rowAt =>
    new RowValues.Expressions(row => values(seed, rowAt(row)))
}
