package winops.spark

import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.duration.DurationInt
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.winops.WinopsRuntimeException

import winops.apama.Apama
import winops.ccl.Ccl
import winops.dialect.Dialect
import winops.esper.Esper
import winops.spl.Spl

/** Whatever happens to an entry of the state, a task goes on, with wrong rows at worst, or fails
  * by name.
  */
class DamagedStateSuite extends AnyFunSuite {
  import DamagedStateSuite._

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

  windows.foreach { case (dialect, policy, time) =>
    test(s"a damaged entry of $policy is an error by name or is read as something else") {
      val random = new Random(policy.hashCode.toLong)
      val plan = KeepPlans.plan(
        KeepPlans.spec(policy, time, idleMillis = Some(60000L), dialect = dialect),
        Seq(KeepPlans.n))
      val outcomes = withinTwoMinutes(Seq.fill(Trials)(outcome(plan, random)))
      assert(outcomes.contains(Refused))
      assert(outcomes.forall(Expected), outcomes.filterNot(Expected))
    }
  }

  /** What a task says that finds one of its entries damaged. */
  private def outcome(plan: KeepPlan, random: Random): String = {
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
        Arrived(at % 3L, Some(at * 50000L), at.toLong, "abcdefghij".take(1 + at * 7 % 9))
      }
      val now = number * RowsOfBatch * 50L
      if (plan.time.isEmpty) driven.batchAt(now)(rows: _*) else driven.batch(now, now)(rows: _*)
      ()
    }
    (1 to 3).foreach(batch)
    val ofBatch = entries / 3
    // The partition's own entry is the first, and read once.
    damaged = entries + (if (random.nextInt(4) == 0) 0 else random.nextInt(ofBatch + 4))
    try {
      (4 to 6).foreach(batch)
      GoesOn
    } catch {
      case error: WinopsRuntimeException => error.getCondition
      case other: Throwable => s"$other ${other.getStackTrace.take(3).mkString(" ")}"
    }
  }

  // A loop without an end would not notice an interruption.
  private def withinTwoMinutes[T](body: => T): T =
    Await.result(Future(body)(ExecutionContext.global), 2.minutes)
}

private object DamagedStateSuite {
  val Trials = 15
  val RowsOfBatch = 120

  val GoesOn = "goes on"
  val Refused = "WINOPS_STATE_FORMAT"

  /** A changed letter of the policy, or a greater number of rows, is another policy's or group's.
    */
  val Expected: Set[String] = Set(GoesOn, Refused, "WINOPS_POLICY_CHANGED", "WINOPS_MAX_ROWS")
}
