package winops.spark.execution

import scala.util.Random

import org.scalacheck.{Gen, Shrink}
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import winops.policy.{Policy, Retention, Sharing}
import winops.spark.plan.{Application, KeepPlan}
import winops.spark.testing.{Arrived, Cases, Changed, DrivenTask, KeepPlans}
import winops.storage.btree.PageMemory
import winops.testing.TableTests
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl
import winops.window.piece.PreviousBatch

/** Properties of every window of every dialect, and of random combinations of Esper's windows.
  * Between two batches all state is stored, and restored into new objects.
  */
class WindowsPropertySuite extends TableTests with ScalaCheckPropertyChecks {
  import KeepPlans._
  import GroupTaskSuite.{byGroup, feed}
  import WindowsPropertySuite._

  // A smaller seed is not a simpler case, so shrinking is disabled.
  implicit private def noShrink[A]: Shrink[A] = Shrink.shrinkAny

  testEach(
    "many delayed rows of few groups: the same changes in any batches, and as a table",
    short = 1)(Cases(7), Cases(25)) { cases =>
    val policies = Gen.oneOf("KEEP 3 ROWS", "KEEP 2 SECONDS", "KEEP EVERY 40 ROWS")
    forAll(policies, Gen.choose(1, 3), Gen.long, minSuccessful(cases.count)) {
      (policy, groups, seed) =>
        val random = new Random(seed)
        val delay = Seq(1000, 400000, 4000000)(random.nextInt(3))
        val rows = (0 until 5000).map { i =>
          val micros = 1000L + i * 1000L + random.nextInt(delay)
          Arrived(random.nextInt(groups).toLong, Some(micros), random.nextInt(9).toLong, "a")
        }
        val end = rows.flatMap(_.micros).max / 1000 + 10000
        val plan = KeepPlans.plan(
          KeepPlans.spec(policy, Some(Application.EventTime), dialect = Ccl),
          order = Seq(KeepPlans.n))
        val emitted = feed(new DrivenTask(plan), random, rows, end)
        assert(byGroup(emitted) == byGroup(DrivenTask.table(plan, rows, Some(end))))
    }
  }

  Seq[(String, () => Gen[(Dialect, Seq[String])], Int)](
    ("named windows", () => inTurn(named).map(alone), named.size),
    ("combinations", () => combined.map(alone), 30),
    ("windows that stand apart", () => apart, 30)).foreach { case (what, policies, few) =>
    testEach(
      s"$what: the same changes in any batches, and as a table, and nothing left behind",
      short = 1)(Cases(few), Cases(150)) { cases =>
      // More rows than a page has, now and then.
      val counts = Gen.frequency(9 -> Gen.choose(1, 250), 1 -> Gen.choose(700, 1000))
      forAll(policies(), counts, Gen.long, minSuccessful(cases.count)) { (policy, count, seed) =>
        val random = new Random(seed)
        val rows = randomRows(random, count)
        val end = rows.flatMap(_.micros).max / 1000 + 10000
        val driven = new DrivenTask(planOf(policy), pageBytes = boundOfPages(random))
        val emitted = feed(driven, random, rows, end)
        assert(byGroup(emitted) == byGroup(DrivenTask.table(planOf(policy), rows, Some(end))))
        val without = DrivenTask.table(planOf(policy, emitsReasons = false), rows, Some(end))
        assert(byGroup(emitted.map(_.copy(reason = ""))) == byGroup(without))
        assert(driven.metric("rowsInserted") == emitted.count(_.kind == "insert"))
        assert(driven.metric("rowsDeleted") == emitted.count(_.kind == "delete"))
        val pending = count - driven.rowsAccountedFor(policy._2.size)
        if (planOf(policy).spec.policy.takesRowsAtOnce) assert(pending == 0)
        else assert(0 <= pending && pending <= driven.rowsHeld)
      }
    }

    testEach(s"$what: the changes rebuild the content, which is what is held", short = 1)(
      Cases(few),
      Cases(150)) { cases =>
      forAll(policies(), Gen.choose(1, 250), Gen.long, minSuccessful(cases.count)) {
        (policy, count, seed) =>
          val rows = randomRows(new Random(seed), count)
          val end = Some(rows.flatMap(_.micros).max / 1000)
          val plan = planOf(policy)
          val changes = DrivenTask.table(plan, rows, end)
          val replayed =
            changes.groupBy(emitted => (emitted.row.k, emitted.window)).map {
              case (of, emitted) =>
                of -> emitted.foldLeft(Vector.empty[Arrived]) { (held, change) =>
                  if (change.kind == "insert") held :+ change.row
                  else {
                    assert(held.contains(change.row), s"${change.row} left without being there")
                    held.diff(Seq(change.row))
                  }
                }
            }
          if (!collects(plan.spec.policy)) {
            val content = DrivenTask.content(plan, rows, end)
            assert(replayed.values.flatten.toSeq.sortBy(_.n) == content.sortBy(_.n))
          }
          byGroup(changes).values.foreach { emitted =>
            assert(emitted.map(_.sequence) == emitted.indices.map(_.toLong))
            assert(emitted.map(_.step) == emitted.map(_.step).sorted)
            assert(emitted.map(_.at.get) == emitted.map(_.at.get).sorted)
          }
      }
    }

    testEach(
      s"$what: a group that is forgotten leaves nothing in the store, and each row is counted",
      short = 1)(Cases(few), Cases(150)) { cases =>
      forAll(policies(), Gen.choose(100, 1500), Gen.long, minSuccessful(cases.count)) {
        (policy, count, seed) =>
          val random = new Random(seed)
          val rows = randomRows(random, count).map(_.copy(text = random.nextString(20)))
          val driven = new DrivenTask(
            planOf(policy, idleMillis = Some(20000L)),
            pageBytes = boundOfPages(random))
          feed(driven, random, rows, rows.flatMap(_.micros).max / 1000 + 100000)
          assert(driven.rowsHeld == 0)
          assert(driven.store.values == 0)
          assert(driven.groupsRemembered == 0)
          assert(driven.metric("rowsDeleted") == driven.metric("rowsInserted"))
          val leftWithoutDelete =
            Seq("rowsRefused", "rowsEvictedSilently", "numRowsDroppedByWatermark").map(
              driven.metric)
          assert(driven.metric("rowsInserted") / policy._2.size + leftWithoutDelete.sum == count)
          assert(driven.partitionSegments.numbers == Set(0L))
      }
    }
  }

  test("where the newest rows of a group say all, the others make no difference") {
    val deciding = named.filter(window => planOf(alone(window)).spec.policy.newestRows.isDefined)
    assert(
      deciding.map(_._2) == Seq(
        "#length(1)",
        "#length(7)",
        "#lastevent",
        "retain 3",
        "sliding, count(3)"))
    forAll(Gen.oneOf(deciding :+ Ccl -> "KEEP 4 ROWS"), Gen.choose(1, 250), Gen.long) {
      (window, count, seed) =>
        val rows = randomRows(new Random(seed), count)
        val end = Some(rows.flatMap(_.micros).max / 1000)
        val plan = planOf(alone(window))
        val newest = plan.spec.policy.newestRows.get.toInt
        val pruned = rows
          .groupBy(_.k)
          .values
          .flatMap(_.sortBy(row => (row.micros, row.n)).takeRight(newest))
          .toSeq
          .sortBy(_.n)
        assert(DrivenTask.content(plan, pruned, end) == DrivenTask.content(plan, rows, end))
    }
  }

  testEach("independent windows emit what each of them emits alone", short = 1)(
    Cases(30),
    Cases(150)) { cases =>
    forAll(apart, Gen.choose(1, 250), Gen.long, minSuccessful(cases.count)) {
      (windows, count, seed) =>
        val rows = randomRows(new Random(seed), count)
        val end = Some(rows.flatMap(_.micros).max / 1000 + 10000)
        val together = DrivenTask.table(planOf(windows), rows, end)
        windows._2.zipWithIndex.foreach { case (text, i) =>
          val single = DrivenTask.table(planOf(alone(windows._1 -> text)), rows, end)
          val own = together.filter(_.window == s"w$i")
          assert(
            byGroup(own).view.mapValues(_.map(fate)).toMap ==
              byGroup(single).view.mapValues(_.map(fate)).toMap)
        }
    }
  }

  private def planOf(
      windows: (Dialect, Seq[String]),
      idleMillis: Option[Long] = None,
      emitsReasons: Boolean = true): KeepPlan = {
    val (dialect, texts) = windows
    val one =
      spec(texts.head, Some(Application.EventTime), idleMillis = idleMillis, dialect = dialect)
    val all = if (texts.size == 1) one else one.copy(policy = policyOf(dialect, texts))
    plan(all.copy(emitsReasons = emitsReasons), Seq(n))
  }
}

private[spark] object WindowsPropertySuite {

  /** Esper's windows that combine with each other in any number. */
  private val views = Seq(
    "#length(1)",
    "#length(7)",
    "#time(1 sec)",
    "#time(250 msec)",
    "#ext_timed(ts, 400 msec)",
    "#ext_timed(case when n % 4 = 1 then null else n end, 5 msec)",
    "#time_accum(300 msec)",
    "#keepall",
    "#firstlength(5)",
    "#firstunique(text)",
    "#lastevent",
    "#unique(text)",
    "#sort(4, text desc, n)",
    "#rank(text, 2, n desc)",
    "#time_order(ts, 700 msec)",
    "#timetolive(ts)",
    "#expr(newest_event.n - oldest_event.n < 9)",
    "#expr(count(*) <= 6 or newest_event.text = 'a')",
    "#expr(expired_count >= 1 or newest_event.n % 4 <> 3)",
    "#expr(current_count <= 5 or expired_count = 2)")

  /** Windows of which a combination has at most one. */
  private val batches = Seq(
    "#length_batch(3)",
    "#time_batch(500 msec)",
    "#ext_timed_batch(ts, 600 msec)",
    "#time_length_batch(400 msec, 4)",
    "#expr_batch(newest_event.text = 'b')")

  val named: Seq[(Dialect, String)] =
    (views ++ batches ++ Seq("#firsttime(2 sec)", "#time_batch(1 sec, 0L, 'FORCE_UPDATE')"))
      .map(Esper -> _) ++
      Seq(
        "within 1.5 every 1.0",
        "within 0.8",
        "retain 3",
        "retain 3 every 2",
        "within 2.0 retain 5",
        "retain 6 with unique text",
        "within 1.0 with unique text",
        "within 1.0 every 0.4 retain 5 with unique text",
        "retain all").map(Apama -> _) ++
      Seq(
        "tumbling, count(4)",
        "tumbling, time(0.7)",
        "tumbling, delta(n, 5)",
        "sliding, count(3)",
        "sliding, time(0.6)",
        "sliding, delta(n, 4)",
        "sliding, count(5), time(0.3)",
        "sliding, time(0.5), count(2)").map(Spl -> _) ++
      Seq("KEEP ALL", "KEEP 3 ROWS SLACK 2", "KEEP EVERY 300 MILLISECONDS").map(Ccl -> _)

  /** Generates each of some values in turn. */
  private def inTurn[A](values: Seq[A]): Gen[A] = {
    val next = Iterator.continually(values).flatten
    Gen.delay(Gen.const(next.next()))
  }

  /** A bound of the loaded pages, small enough for unloads at each step, at some, or at none. */
  private def boundOfPages(random: Random): Long =
    Seq(0L, 20000L, PageMemory.DefaultBytes)(random.nextInt(3))

  /** Returns true if the held rows are those that are not inserted yet. */
  def collects(policy: Policy): Boolean = policy.retention match {
    case Retention.Union(_) => false
    case retention => retention.windows.exists(_.bound == PreviousBatch)
  }

  val combined: Gen[(Dialect, String)] = for {
    size <- Gen.choose(2, 3)
    chosen <- Gen.listOfN(size, Gen.oneOf(views))
    batch <- Gen.option(Gen.oneOf(batches))
    place <- Gen.choose(0, size - 1)
    isUnion <- Gen.oneOf(true, false)
  } yield {
    val windows = batch.fold(chosen)(chosen.updated(place, _))
    Esper -> (windows.mkString + (if (isUnion) " retain-union" else ""))
  }

  def alone(window: (Dialect, String)): (Dialect, Seq[String]) = window._1 -> Seq(window._2)

  /** Several named windows of one language that can share their rows. */
  val apart: Gen[(Dialect, Seq[String])] = {
    val sharing = named
      .filter { case (dialect, text) =>
        Sharing.expected(KeepPlans.policyOf(dialect, text)).isEmpty
      }
      .groupMap(_._1)(_._2)
    for {
      dialect <- Gen.oneOf(sharing.keys.toSeq.sortBy(_.name))
      count <- Gen.choose(2, 4)
      texts <- Gen.listOfN(count, Gen.oneOf(sharing(dialect)))
    } yield dialect -> texts
  }

  /** A change without its numbers, which differ for a window alone. */
  def fate(change: Changed): (String, String, Option[Long], Arrived) =
    (change.kind, change.reason, change.at, change.row)

  /** Rows with repeated and out-of-order times, and with few distinct texts. */
  def randomRows(random: Random, count: Int): Seq[Arrived] = {
    val gap = Seq(1, 700, 150000)(random.nextInt(3))
    var micros = 1000L
    (0 until count).map { i =>
      micros += random.nextInt(gap)
      Arrived(
        random.nextInt(3).toLong,
        Some(micros + random.nextInt(3 * gap)),
        i.toLong,
        ('a' + random.nextInt(4)).toChar.toString)
    }
  }
}
