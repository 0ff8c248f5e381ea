package winops.spark.restart

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.expressions.aggregate.Count

import winops.spark.analysis.WindowResults
import winops.spark.expressions.WindowAggregate
import winops.spark.plan.{Application, KeepPlan, Output, RestartOptions, StoredPlans}
import winops.spark.group.BatchTimes
import winops.spark.state.StateIdentity
import winops.spark.testing.{Arrived, DrivenTask, KeepPlans}
import winops.terms.RowExpression
import winops.testing.TableTests
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl

/** Groups that a restart rebuilds, or whose rows enter another window, without a session. */
class RestartedGroupsSuite extends TableTests {
  import RestartedGroupsSuite._

  private def planOf(
      dialect: Dialect,
      text: String,
      idleMillis: Option[Long] = None,
      times: Option[Application] = None): KeepPlan =
    KeepPlans.plan(
      KeepPlans.spec(text, times, idleMillis = idleMillis, dialect = dialect),
      Seq(KeepPlans.n))

  private def planOf(texts: Seq[String]): KeepPlan = {
    val spec = KeepPlans.spec("KEEP ALL")
    KeepPlans.plan(spec.copy(policy = KeepPlans.policyOf(Ccl, texts)), Seq(KeepPlans.n))
  }

  private def without(column: Attribute, plan: KeepPlan): KeepPlan =
    plan.copy(content = plan.content.filter(_.exprId != column.exprId))

  /** The plan `now` for a state of `before` whose rows enter its window. */
  private def carrying(before: KeepPlan, now: KeepPlan): KeepPlan = {
    val former = new StoredPlans {
      override def keepOf(idle: Long): KeepPlan = before
    }
    val restart = RestartOptions(carries = true, former = Some(former))
    now.copy(spec = now.spec.copy(restart = restart))
  }

  private def rows(from: Int, until: Int): Seq[Arrived] =
    (from until until).map(n => Arrived(1, Some(n * 1000000L), n.toLong))

  /** The type, the step, the number and the row of each change. */
  private def changesOf(task: DrivenTask, at: Long, rows: Seq[Arrived]): Seq[Change] = {
    val from = task.plan.changeColumns.size
    task.run(rows, BatchTimes.ofBatch(at)) { row =>
      (row.getUTF8String(0).toString, row.getLong(2), row.getLong(3), row.getLong(from + 2))
    }
  }

  private val several = "several windows" ->
    planOf(Seq("KEEP 2 ROWS", "KEEP 4 ROWS", "KEEP EVERY 3 ROWS"))

  private val windows: Seq[(String, KeepPlan)] = several +: Seq(
    Ccl -> "KEEP 2 ROWS SLACK 3",
    Ccl -> "KEEP 3 SECONDS",
    Apama -> "retain 4 every 3",
    Esper -> "#time_batch(3 sec)",
    Esper -> "select rstream * from S#length_batch(3)",
    Esper -> "#sort(2, n desc)",
    Spl -> "sliding, count(3), count(2)",
    Ccl -> "KEEP 3 ROWS",
    Ccl -> "KEEP EVERY 3 ROWS",
    Apama -> "retain 2 with unique k",
    Esper -> "#length_batch(4)",
    Esper -> "#length(3)",
    Esper -> "select rstream * from S#length(3)",
    Esper -> "select istream * from S#length(3)",
    Esper -> "#firstlength(2)",
    Esper -> "#unique(n % 3)",
    Spl -> "tumbling, count(3)").map { case (dialect, text) => text -> planOf(dialect, text) }

  testEach("a group that is rebuilt goes on with its numbers", short = 8)(windows: _*) {
    case (_, plan) =>
      def changes(task: DrivenTask, n: Int): Seq[Change] =
        changesOf(task, n * 1000L, rows(n, n + 1))
      val other = new DrivenTask(plan)
      val expected = (0 until 15).map(changes(other, _))
      (1 to 9).foreach { early =>
        val before = new DrivenTask(without(KeepPlans.text, plan))
        (0 until early).foreach(n => assert(changes(before, n) == expected(n)))
        val now = before.restarted(plan)
        (early until early + 6).foreach(n => assert(changes(now, n) == expected(n)))
      }
  }

  test("rows are found by their primary keys after a rebuild") {
    val spec = KeepPlans.spec("KEEP 300 ROWS")
    val policy = spec.policy.copy(key = Seq(RowExpression.Column("n")(0)))
    val plan = KeepPlans.plan(spec.copy(policy = policy), Seq(KeepPlans.n))
    val random = new Random(5)
    // Some rows of a batch replace others, and the rest push the oldest out of the window.
    def next(i: Int): Seq[Arrived] = random.shuffle((0 until 400).toList).take(40).map { key =>
      Arrived(1, Some(i * 1000000L), key.toLong)
    }
    val before = new DrivenTask(without(KeepPlans.text, plan))
    val other = new DrivenTask(plan)
    def compare(task: DrivenTask, i: Int): Unit = {
      val rows = next(i)
      val changes = changesOf(task, i * 1000L, rows)
      assert(changes.nonEmpty)
      assert(changes == changesOf(other, i * 1000L, rows))
    }
    (0 until 30).foreach(compare(before, _))
    val now = before.restarted(plan)
    (30 until 60).foreach(compare(now, _))
  }

  private def carriedChanges(before: KeepPlan, now: KeepPlan, rowsBefore: Seq[Arrived])(
      late: (Long, Seq[Arrived])*): Seq[Changed] = {
    val first = new DrivenTask(before)
    rowsBefore.foreach(row => first.batchAt(row.n * 1000)(row))
    val second = first.restarted(carrying(before, now))
    late.flatMap { case (at, rows) => second.batchAt(at)(rows: _*) }.map { change =>
      (change.sequence, change.window, change.kind, change.row.n)
    }
  }

  test("a group keeps the time of its last row, which its window has not taken") {
    val idle = Some(60000L)
    val arrival = Some(Application.Arrival)
    val plan = planOf(Esper, "#sort(2, n desc)", idle, arrival)
    val before = new DrivenTask(plan)
    val all = Seq(100L -> 0L, 101L -> 1000L, 1L -> 50000L)
    val _ = before.batch(0, 50000)(all.map { case (n, at) =>
      Arrived(1, Some(at * 1000), n)
    }: _*)
    val now = planOf(Esper, "#sort(3, n desc)", idle, arrival)
    val second = before.restarted(carrying(plan, now))
    assert(second.batch(50000, 70000)() == Nil)
    assert(second.groupsRemembered == 1)
    assert(second.batch(70000, 115000)().map(_.kind) == Seq("delete", "delete"))
  }

  test("a group that is empty for a while keeps its numbers and its silence") {
    val idle = Some(3600000L)
    val plan = planOf(Ccl, "KEEP 10 SECONDS", idle)
    val before = new DrivenTask(plan)
    assert(before.batchAt(0)(rows(1, 2): _*).size == 1)
    assert(before.batchAt(20000)().size == 1)
    val second = before.restarted(carrying(plan, planOf(Ccl, "KEEP 2 ROWS", idle)))
    assert(second.batchAt(30000)() == Nil)
    val changes = second.batchAt(40000)(rows(2, 3): _*)
    assert(changes.map(change => (change.kind, change.sequence)) == Seq("insert" -> 2L))
  }

  test("a new window gets inserts for all of its rows") {
    val changes = carriedChanges(
      planOf(Seq("KEEP 3 ROWS")),
      planOf(Seq("KEEP 3 ROWS", "KEEP 2 ROWS")),
      rows(1, 5))(9000L -> Nil)
    assert(
      changes.map(_.copy(_1 = 0L)) == Seq((0L, "w1", "insert", 3L), (0L, "w1", "insert", 4L)))
    assert(changes.map(_._1) == Seq(5L, 6L))
  }

  test("the rows of a removed window are deleted under its name") {
    val changes = carriedChanges(
      planOf(Seq("KEEP 2 ROWS", "KEEP 3 ROWS")),
      planOf(Seq("KEEP 1 ROW")),
      rows(1, 5))(9000L -> Nil)
    assert(
      changes.map { case (_, window, kind, n) => (window, kind, n) } == Seq(
        ("w1", "delete", 2L),
        ("w0", "delete", 3L),
        ("w1", "delete", 3L),
        ("w1", "delete", 4L)))
  }

  test("many rows enter another window in the order of their arrival") {
    val (count, fewer) = (50000, 30000)
    def all(plan: KeepPlan) = plan.copy(spec = plan.spec.copy(maxRows = Long.MaxValue))
    val before = all(planOf(Ccl, "KEEP ALL"))
    val first = new DrivenTask(before)
    assert(first.batchAt(1000)(rows(0, count): _*).size == count)
    val second =
      first.restarted(carrying(before, all(planOf(Esper, s"#sort($fewer, n % 1000, n)"))))
    val (staying, leaving) = (0 until count).partition(n => n % 1000 < fewer / (count / 1000))
    val deleted = second.batchAt(2000)()
    assert(deleted.map(_.row.n) == leaving.map(_.toLong))
    assert(deleted.map(_.sequence) == leaving.indices.map(_.toLong + count))
    assert(second.rowsHeld == staying.size)
    // Back to another log, whose rows come from a window with holes.
    val third = second.restarted(
      carrying(second.plan.asInstanceOf[KeepPlan], all(planOf(Ccl, "KEEP 10 ROWS SLACK 5"))))
    assert(third.batchAt(3000)().map(_.row.n) == staying.dropRight(10).map(_.toLong))
  }

  /** The plan that emits the number of rows with each row. */
  private def counting(plan: KeepPlan): KeepPlan = {
    val count = WindowAggregate(Count(Seq(KeepPlans.n)), isDistinct = false, filter = None)
    val column = AttributeReference("count", count.dataType)()
    KeepPlans.computing(plan, Output.WithColumns, WindowResults(Nil, Seq(count), Seq(column)))
  }

  test("rows that waited for a trigger are emitted with columns, and others are not") {
    val before = new DrivenTask(counting(planOf(Esper, "#length_batch(4)")))
    val now = counting(planOf(Ccl, "KEEP 10 ROWS"))
    def emitted(task: DrivenTask, at: Long, rows: Seq[Arrived]) =
      task.run(rows, BatchTimes.ofBatch(at))(row => row.getLong(2) -> row.getLong(4))
    assert(emitted(before, 1000, rows(1, 8)).map(_._1) == Seq(1L, 2L, 3L, 4L))
    val second = before.restarted(carrying(before.plan.asInstanceOf[KeepPlan], now))
    assert(emitted(second, 2000, Nil) == Seq(5L -> 7L, 6L -> 7L, 7L -> 7L))
    assert(emitted(second, 3000, rows(8, 9)) == Seq(8L -> 8L))
  }

  private def outcomeOf(before: KeepPlan, now: KeepPlan): Outcome =
    StateIdentity
      .plan(StateIdentity.of(before), StateIdentity.of(now), RestartOptions(carries = true))
      .outcome

  test("rows of a policy that emits one kind of changes are not carried over") {
    val sort = planOf(Esper, "#sort(3, n)")
    val both = planOf(Esper, "#length(3)")
    assert(outcomeOf(both, sort) == Outcome.Carried)
    Seq("istream", "rstream").foreach { kind =>
      val oneSided = planOf(Esper, s"select $kind * from S#length(3)")
      assert(outcomeOf(oneSided, sort) == Outcome.NeedsHistory)
      assert(outcomeOf(sort, oneSided) == Outcome.NeedsHistory)
      assert(outcomeOf(both, oneSided) == Outcome.NeedsHistory)
      assert(outcomeOf(oneSided, both) == Outcome.NeedsHistory)
    }
  }

  test("between windows with names and one without, only aggregates are carried over") {
    val (one, named) = (planOf(Esper, "#sort(3, n)"), planOf(Seq("KEEP 3 ROWS", "KEEP 1 DAY")))
    assert(outcomeOf(one, named) == Outcome.NeedsHistory)
    assert(outcomeOf(named, one) == Outcome.NeedsHistory)
    assert(outcomeOf(named, planOf(Seq("KEEP 3 ROWS"))) == Outcome.Carried)
    assert(outcomeOf(counting(one), counting(named)) == Outcome.Carried)
    assert(outcomeOf(counting(named), counting(one)) == Outcome.Carried)
  }
}

private object RestartedGroupsSuite {
  type Change = (String, Long, Long, Long)
  type Changed = (Long, String, String, Long)
}
