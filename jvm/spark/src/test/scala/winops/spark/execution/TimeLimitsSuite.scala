package winops.spark.execution

import winops.spark.plan.Application
import winops.spark.testing.{Arrived, Changed, DrivenTask, KeepPlans}
import winops.testing.TableTests
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl

/** Instants at the limits of SQL's timestamps, and clocks that jump. */
class TimeLimitsSuite extends TableTests {
  import KeepPlans._
  import TimeLimitsSuite._

  private def inTime(policy: String, dialect: Dialect = Ccl, idle: Option[Long] = None) =
    plan(spec(policy, Some(Application.EventTime), idle, dialect = dialect), Seq(n))

  private def table(policy: String, dialect: Dialect, instants: Seq[Long]): Seq[Changed] = {
    val rows = instants.zipWithIndex.map { case (micros, i) =>
      Arrived(1, Some(micros), i.toLong)
    }
    DrivenTask.table(inTime(policy, dialect), rows, Some(floorToMillis(instants.max)))
  }

  test("rows of the first and the last instant of all leave when they are due, and no sooner") {
    val second = 1000000L
    val instants = Seq(
      Long.MinValue,
      Long.MinValue + 4 * second,
      FirstYear,
      -1L,
      0L,
      LastYear,
      Long.MaxValue - 4 * second,
      Long.MaxValue)
    val emitted = table("KEEP 10 SECONDS", Ccl, instants)
    assert(emitted.filter(_.kind == "insert").map(_.row.micros.get) == instants)
    val deletes = emitted.filter(_.kind == "delete")
    assert(deletes.map(_.row.micros.get) == instants.dropRight(2))
    deletes.foreach { delete =>
      assert(delete.at.get == floorToMillis(delete.row.micros.get) + 10000)
    }
    val inserts = emitted.filter(_.kind == "insert").map(_.at.get)
    assert(inserts.head == Long.MinValue / 1000, "the time of a step is within those of SQL")
    assert(inserts.tail == instants.tail.map(floorToMillis))
  }

  test("periods are the same before 1970, in the first year and in the last instant") {
    val day = 86400000000L
    val instants = Seq(Long.MinValue, FirstYear - 1, FirstYear, -1L, LastYear, Long.MaxValue)
    val emitted = table("KEEP EVERY 1 DAY", Ccl, instants)
    val deletes = emitted.filter(_.kind == "delete")
    assert(deletes.map(_.row.micros.get) == instants.init)
    deletes.foreach { delete =>
      assert(delete.at.get == (Math.floorDiv(delete.row.micros.get, day) + 1) * (day / 1000))
    }
  }

  testEach("every window by time ends at the last instant of all")(
    "KEEP 100000 DAYS" -> Ccl,
    "KEEP EVERY 100000 DAYS" -> Ccl,
    "KEEP EVERY 3 MICROSECONDS" -> Ccl,
    "#time(10 sec)" -> Esper,
    "#time_batch(10 sec)" -> Esper,
    "#time_batch(1 month)" -> Esper,
    "#ext_timed(ts, 10 sec)" -> Esper,
    "#ext_timed_batch(ts, 10 sec)" -> Esper,
    "#time_accum(10 sec)" -> Esper,
    "#time_order(ts, 10 sec)" -> Esper,
    "tumbling, time(10)" -> Spl,
    "sliding, time(10), time(10)" -> Spl,
    "sliding, count(2), time(10)" -> Spl) { case (policy, dialect) =>
    val last = Seq(Long.MaxValue - 1, Long.MaxValue)
    assert(table(policy, dialect, last).forall(_.at.forall(_ == Long.MaxValue / 1000)))
  }

  testEach("a watermark that jumps by a year fires all that is due, each at its own time")(
    "KEEP 1 MINUTE",
    "KEEP EVERY 1 MINUTE",
    "KEEP 200 DAYS") { policy =>
    val year = 365L * 86400 * 1000
    val start = 1000000L
    val rows = (0L until 200L).map(i => Arrived(i % 50, Some((start + i) * 1000), i))
    val driven = new DrivenTask(inTime(policy, idle = Some(year / 2)))
    val came = driven.batch(0, start)(rows: _*)
    val emitted = came ++ driven.batch(start, start + year)()
    val onTable = DrivenTask.table(driven.plan, rows, Some(start + year))
    assert(emitted.groupBy(_.row.k) == onTable.groupBy(_.row.k))
    assert(emitted.count(_.kind == "delete") == rows.size)
    assert(driven.store.values == 0)
  }

  test(
    "rows from before 1970 wait until the watermark has passed that year, and leave in order") {
    // Spark's watermarks start at 1970 and never go back.
    val driven = new DrivenTask(inTime("KEEP 1 SECOND"))
    val old = Seq(-5000L, -4500L, -9000L).map(ms => Arrived(1, Some(ms * 1000), -ms))
    assert(driven.batch(0, 0)(old: _*).isEmpty)
    assert(driven.rowsHeld == 3)
    val emitted = driven.batch(0, 1)()
    assert(
      emitted.map(change => (change.kind, change.at.get)) == Seq(
        "insert" -> -9000,
        "delete" -> -8000,
        "insert" -> -5000,
        "insert" -> -4500,
        "delete" -> -4000,
        "delete" -> -3500))
    driven.batch(1, 1)(old: _*)
    assert(driven.metric("numRowsDroppedByWatermark") == 3)
  }

  testEach("timer scan: a row that is over when it comes leaves in the batch that it comes in")(
    Application.all: _*) { application =>
    val driven = new DrivenTask(plan(spec("KEEP 30 MILLISECONDS", Some(application)), Seq(n)))
    driven.batch(0, 10)(Arrived(2, Some(900000), 1))
    val emitted = driven.batch(10, 1000)(Arrived(1, Some(20000), 2))
    assert(
      emitted.filter(_.row.k == 1).map(change => (change.kind, change.at.get)) ==
        Seq("insert" -> 20, "delete" -> 50))
    assert(driven.rowsHeld == 0)
    assert(driven.earliestDue == Long.MaxValue)
  }

  test("timer scan: what is entered before the instant of the last scan is found by the next") {
    val driven =
      new DrivenTask(plan(spec("KEEP 30 MILLISECONDS", Some(Application.Arrival)), Seq(n)))
    driven.batch(0, 1000)(Arrived(1, Some(5000000), 1))
    // Group 2 expires long before the registered timer, group 3 between the two.
    driven.batch(1000, 1000)(Arrived(2, Some(1001000), 2), Arrived(3, Some(3000000), 3))
    assert(driven.earliestDue <= 1031)
    assert(driven.batch(1000, 1031)().map(_.row.k) == Seq(2))
    assert(driven.batch(1031, 4000)().map(_.row.k) == Seq(3))
    assert(driven.batch(4000, 6000)().map(_.row.k) == Seq(1))
  }

  testEach("TTL and rank: a group that falls silent leaves as a whole, however old its rows")(
    "#sort(3, n desc)",
    "#rank(n, 3, n desc)",
    "#unique(n)") { policy =>
    val driven = new DrivenTask(
      plan(spec(policy, Some(Application.Arrival), Some(100L), dialect = Esper), Seq(n)))
    driven.batch(0, 1)(Arrived(1, Some(1000), 9))
    (1L to 20L).foreach { i =>
      val emitted = driven.batch(i * 50, i * 50 + 1)(Arrived(1, Some((i + 1) * 50000), i % 2))
      assert(emitted.forall(change => change.kind == "insert" || change.row.n != 9))
    }
    val content = driven.rowsHeld
    val emitted = driven.batch(1001, 1150)()
    assert(emitted.count(_.row.n == 9) == 1)
    assert(emitted.map(change => (change.kind, change.at)).toSet == Set("delete" -> Some(1150)))
    assert(emitted.size == content)
    assert(driven.store.values == 0)
  }
}

private object TimeLimitsSuite {

  /** The start of the year 1 and the end of 9999, in microseconds. */
  val FirstYear: Long = -62135596800000000L
  val LastYear: Long = 253402300799999999L

  def floorToMillis(micros: Long): Long = Math.floorDiv(micros, 1000L)
}
