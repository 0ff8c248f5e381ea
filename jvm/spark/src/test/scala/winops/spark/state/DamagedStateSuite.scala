package winops.spark.state

import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.duration.DurationInt
import scala.util.Random

import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.types.{DecimalType, DoubleType}
import org.apache.spark.sql.winops.internal.WinopsRuntimeException

import winops.spark.analysis.WindowResults
import winops.spark.expressions.{OfLastArrival, WindowAggregate}
import winops.spark.group.BatchTimes
import winops.spark.plan.{Application, FrameBound, FramedFunction, KeepPlan, OffsetValue, OperatorPlan, Output}
import winops.spark.testing.{Arrived, Damage, DrivenTask, KeepPlans}
import winops.terms.RowExpression
import winops.testing.Longer
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl

/** A task with damaged state entries continues, at worst with wrong rows, or fails with a named
  * error.
  */
class DamagedStateSuite extends AnyFunSuite {
  import DamagedStateSuite._
  import KeepPlans.{n, text}

  private val windows: Seq[(Dialect, String, Option[Application])] = Seq(
    (Ccl, "KEEP 3 ROWS SLACK 2", None),
    (Ccl, "KEEP 400 ROWS", None),
    (Ccl, "KEEP 20 SECONDS", Some(Application.EventTime)),
    (Ccl, "KEEP EVERY 5 SECONDS", Some(Application.Arrival)),
    (Esper, "#sort(300, text desc, n)", None),
    (Esper, "#unique(text)", None),
    (Esper, "#rank(text, 300, n desc)", None),
    (Esper, "#expr(count(*) <= 100 or newest_event.text = 'a')", None),
    (Esper, "#time_order(ts, 20 sec)", Some(Application.EventTime)),
    (Esper, "#length(50)#time(20 sec)", Some(Application.EventTime)),
    (Esper, "#length(50)#time(20 sec) retain-union", Some(Application.Arrival)),
    (Esper, "#length_batch(7)", None),
    (Apama, "within 20.0 every 5.0 retain 30 with unique text", Some(Application.Arrival)),
    (Spl, "sliding, count(200), time(3)", Some(Application.Arrival)))

  windows.zipWithIndex.foreach { case ((dialect, policy, time), i) =>
    survives(
      policy,
      planOf(dialect, policy, time, idleMillis = Some(60000L)),
      groups = 3,
      Longer.unless(i % 3 == 0))
  }

  for ((policy, time) <- Seq(
      "KEEP 600 ROWS" -> None,
      "KEEP 20 SECONDS" -> Some(Application.EventTime))) {
    survives(s"$policy with a primary key", keyedPlanOf(policy, time), groups = 1)
  }

  private val crossGroup: Seq[(Dialect, String, Option[Application])] = Seq(
    (Esper, "@Hint('reclaim_group_aged=4') #groupwin(k)#length(30)", None),
    (Esper, "@Hint('reclaim_group_aged=4') #groupwin(k)#time(3)", Some(Application.EventTime)),
    (Spl, "sliding, count(90), count(3), partitioned, partitionCount(4)", None),
    (Spl, "sliding, time(4), partitioned, tupleCount(60)", Some(Application.Arrival)))

  crossGroup.zipWithIndex.foreach { case ((dialect, policy, time), i) =>
    survives(policy, planOf(dialect, policy, time), groups = 7, Longer.unless(i % 2 == 0))
  }

  private val projected: Seq[(String, Int)] = Seq(
    "#length(300)#uni(n)" -> 1,
    "select sum(n), count(distinct text), max(text) from S#sort(90, n)" -> 3,
    "select text, sum(n) from S#groupwin(k)#length(30) group by text" -> 7,
    "select text, avg(n), count(distinct n) from S#length(90) group by text" -> 3,
    "#groupwin(k)#length(30)#merge(k)#linest(n, n)" -> 7)

  projected.zipWithIndex.foreach { case ((policy, groups), i) =>
    survives(
      policy,
      KeepPlans.projected(planOf(Esper, policy, None)),
      groups,
      Longer.unless(i < 3))
  }

  private val held: Seq[(String, Seq[AggregateFunction])] = Seq(
    "buffers of any size" -> Seq(Max(text), First(text, ignoreNulls = false)),
    "registers" -> Seq(
      new HyperLogLogPlusPlus(text),
      StddevSamp(Cast(n, DoubleType), nullOnDivideByZero = true)),
    "a digest" -> Seq(new ApproximatePercentile(n, Literal(0.5))),
    "buffers of one size" -> Seq(Sum(n), Max(n), Sum(Cast(n, DecimalType(30, 2)))),
    "counts of hashes" -> Seq(
      new CountMinSketchAgg(text, Literal(0.2), Literal(0.8), Literal(7))))

  for {
    ((what, functions), i) <- held.zipWithIndex
    window <- Seq("#length(300)", "#sort(300, text desc, n)")
  } {
    val values =
      functions.map(WindowAggregate(_, isDistinct = false, None)) :+ OfLastArrival(text)
    val columns = values.map(value => AttributeReference("value", value.dataType)())
    survives(
      s"$window with $what",
      KeepPlans.computing(
        planOf(Esper, window, None),
        Output.WithColumns,
        WindowResults(Nil, values, columns)),
      groups = 1,
      Longer.unless(window == "#length(300)" && i < 3))
  }

  private val framed: Seq[(String, Seq[FramedFunction])] = {
    def sumOf(lower: FrameBound, upper: FrameBound) =
      FramedFunction(WindowAggregate(Sum(n), isDistinct = false, None), lower, upper)
    def textOf(offset: Int, ignoreNulls: Boolean) =
      FramedFunction(
        OffsetValue(text, Literal(null, text.dataType), offset, ignoreNulls),
        FrameBound.Unbounded,
        FrameBound.ByRows(0))
    Seq(
      "lag and a running sum" -> Seq(
        textOf(-3, ignoreNulls = false),
        sumOf(FrameBound.Unbounded, FrameBound.ByPeers(None))),
      "a moving sum" -> Seq(sumOf(FrameBound.ByRows(-90), FrameBound.ByRows(0))),
      "rows that wait for others" -> Seq(
        textOf(40, ignoreNulls = false),
        textOf(2, ignoreNulls = true),
        sumOf(FrameBound.ByRows(-20), FrameBound.ByRows(60))))
  }

  framed.foreach { case (what, functions) =>
    survives(s"OVER with $what", KeepPlans.over(functions, idleMillis = Some(60000L)), groups = 3)
  }

  private def survives(
      name: String,
      plan: => OperatorPlan,
      groups: Int,
      tags: Seq[Tag] = Nil): Unit =
    test(s"a damaged entry of $name is an error by name or is read as something else", tags: _*) {
      val random = new Random(name.hashCode.toLong)
      val planned = plan
      assert(outcome(planned, groups, new Random(0), isDamaged = false) == GoesOn)
      val outcomes =
        withinTwoMinutes(Seq.fill(Trials)(outcome(planned, groups, random, isDamaged = true)))
      assert(outcomes.contains(Refused))
      assert(outcomes.forall(Expected), outcomes.filterNot(Expected))
    }

  /** The outcome of a task with one damaged entry, or with none. */
  private def outcome(
      plan: OperatorPlan,
      groups: Int,
      random: Random,
      isDamaged: Boolean): String = {
    val damage = new Damage(random)
    var entries = 0
    var damaged = -1
    val driven = new DrivenTask(
      plan,
      bytes => {
        entries += 1
        if (entries - 1 == damaged) damage.of(bytes) else bytes
      })
    def batch(number: Int): Unit = {
      val rows = Seq.tabulate(RowsOfBatch) { i =>
        val at = number * RowsOfBatch + i
        Arrived(
          (at % groups).toLong,
          Some(at * 50000L),
          at.toLong,
          "abcdefghij".take(1 + at * 7 % 9))
      }
      val now = number * RowsOfBatch * 50L
      val clock =
        if (plan.time.isEmpty) BatchTimes.ofBatch(now) else BatchTimes.ofWatermarks(now, now)
      driven.run(rows, clock)(_ => ())
      ()
    }
    (1 to 3).foreach(batch)
    val ofBatch = entries / 3
    // The partition's own entry is read first, and once.
    if (isDamaged) {
      damaged = entries + (if (random.nextInt(4) == 0) 0 else random.nextInt(ofBatch + 4))
    }
    try {
      (4 to 6).foreach(batch)
      GoesOn
    } catch {
      case error: WinopsRuntimeException => error.getCondition
      case other: Throwable => s"$other ${other.getStackTrace.take(3).mkString(" ")}"
    }
  }

  // An endless loop would ignore an interrupt.
  private def withinTwoMinutes[T](body: => T): T =
    Await.result(Future(body)(ExecutionContext.global), 2.minutes)
}

private object DamagedStateSuite {
  val Trials = 15
  val RowsOfBatch = 120

  val GoesOn = "goes on"
  val Refused = "WINOPS_STATE_FORMAT"

  /** The accepted outcomes. An altered policy text is refused as another policy, and an altered
    * number of rows may exceed the maximum.
    */
  val Expected: Set[String] = Set(GoesOn, Refused, "WINOPS_POLICY_CHANGED", "WINOPS_MAX_ROWS")

  /** The plan of a window of CCL over rows with a primary key. */
  private def keyedPlanOf(policy: String, time: Option[Application]): KeepPlan = {
    val spec = KeepPlans.spec(policy, time)
    val keyed = spec.policy.copy(key = Seq(RowExpression.Column("n")(0)))
    KeepPlans.plan(spec.copy(policy = keyed), Seq(KeepPlans.n))
  }

  def planOf(
      dialect: Dialect,
      policy: String,
      time: Option[Application],
      idleMillis: Option[Long] = None): KeepPlan =
    KeepPlans.plan(KeepPlans.spec(policy, time, idleMillis, dialect = dialect), Seq(KeepPlans.n))
}
