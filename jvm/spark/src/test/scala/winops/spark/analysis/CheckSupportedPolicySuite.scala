package winops.spark.analysis

import scala.util.{Failure, Random, Success, Try}

import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.AnalysisException

import winops.policy.{Policy, Retention}
import winops.spark.execution.GroupTaskSuite.feed
import winops.spark.execution.WindowsPropertySuite.{combined, named, randomRows}
import winops.spark.plan.{Application, KeepPlan}
import winops.spark.testing.{DrivenTask, KeepPlans}
import winops.terms.{RowExpression, StepOrder}
import winops.testing.RandomPolicies
import winops.text.ccl.Ccl
import winops.text.esper.Esper
import winops.window.piece.Fails

/** No policy fails in a task because no window has its pieces. */
class CheckSupportedPolicySuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import CheckSupportedPolicySuite._

  // A smaller seed is not a simpler case, so shrinking is disabled.
  implicit private def noShrink[A]: Shrink[A] = Shrink.shrinkAny

  test("a random policy is refused at analysis, or runs in tasks") {
    var (running, refused) = (0, 0)
    forAll(policies, Gen.choose(1, 60), Gen.long, minSuccessful(400)) { (policy, count, seed) =>
      Try(CheckSupportedPolicy(policy)) match {
        case Success(_) =>
          running += 1
          val random = new Random(seed)
          val rows = randomRows(random, count)
          val end = rows.flatMap(_.micros).max / 1000 + 10000
          feed(new DrivenTask(planOf(policy)), random, rows, end)
        case Failure(error: AnalysisException) =>
          refused += 1
          assert(error.getCondition == "WINOPS_UNSUPPORTED_POLICY")
        case Failure(error) => throw error
      }
    }
    assert(running > 100 && refused > 100, s"$running run, $refused are refused")
  }

  test("the error names the policy and the reason") {
    val net = KeepPlans.policyOf(Esper, "#unique(text)")
    val error = intercept[AnalysisException] {
      CheckSupportedPolicy(net.copy(stream = net.stream.copy(order = StepOrder.Net)))
    }
    assert(error.getCondition == "WINOPS_UNSUPPORTED_POLICY")
    assert(error.getSqlState == "0A000")
    assert(error.getMessage.contains("[#unique(text)]"))
    assert(error.getMessage.contains("the order Net"))
  }

  test("two batch windows in an intersection are refused even if a parser accepts them") {
    val batch = KeepPlans.policyOf(Esper, "#length_batch(3)")
    val both = Retention.Intersection(batch.retention.windows ++ batch.retention.windows)
    val error = intercept[AnalysisException](CheckSupportedPolicy(batch.copy(retention = both)))
    assert(error.getMessage.contains("at most one batch window"))
  }
}

private object CheckSupportedPolicySuite {
  private val conditions: Gen[RowExpression] = {
    val texts = Seq("newest_event.n - oldest_event.n < 9", "current_count <= 5")
    Gen.oneOf(texts.map { text =>
      KeepPlans.policyOf(Esper, s"#expr($text)").retention.windows.head.bound match {
        case Fails(condition) => condition
        case bound => throw new IllegalArgumentException(s"$text became $bound")
      }
    })
  }

  val policies: Gen[Policy] = new RandomPolicies(
    Gen.oneOf(Gen.oneOf(named), combined).map { case (dialect, text) =>
      KeepPlans.policyOf(dialect, text)
    },
    key = "text",
    value = "n",
    timestamp = "ts",
    conditions).all

  private def planOf(policy: Policy): KeepPlan = {
    val spec = KeepPlans.spec("KEEP ALL", Some(Application.EventTime), dialect = Ccl)
    KeepPlans.plan(spec.copy(policy = policy), Seq(KeepPlans.n))
  }
}
