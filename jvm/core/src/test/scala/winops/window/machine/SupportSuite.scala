package winops.window.machine

import scala.util.{Failure, Success, Try}

import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import winops.policy._
import winops.terms.StepOrder
import winops.testing.{DrivenGroup, Input, Longer, RandomPolicies, RowValues}
import winops.testing.fuzz.{Corpus, PolicyFuzz, Trial}
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.window.piece.{EachRows, Fails}

/** A policy runs, or the machine says why it does not. */
class SupportSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import SupportSuite._
  import StoredMachineSuite.evaluator

  // A smaller seed is not a simpler case, so shrinking is disabled.
  implicit private def noShrink[A]: Shrink[A] = Shrink.shrinkAny

  // CheckSupportedPolicySuite runs random policies too.
  test("a random policy is refused with a reason before there are rows, or runs", Longer) {
    var (running, refused) = (0, 0)
    forAll(policies, Input.sequences, Gen.long, minSuccessful(4000)) { (policy, inputs, seed) =>
      val made = Try(new DrivenGroup(policy, None, evaluator(seed)))
      (Machine.unsupported(policy), made) match {
        case (Some(reason), Failure(error: IllegalArgumentException)) =>
          refused += 1
          assert(error.getMessage.endsWith(reason))
        case (None, Success(group)) =>
          running += 1
          inputs.foreach { input =>
            group.feed(input)
            if (group.isAlive) group.restore(group.save()) else group.drop()
          }
          group.contents
        case (reason, made) => fail(s"$reason, and the machine is $made")
      }
    }
    // Measured: 1,206 of 4,000 run. Enough of both kinds must occur.
    assert(running > 1000 && refused > 1000, s"$running run, $refused are refused")
  }

  test("the machine runs every policy that has a text") {
    val unknown = PolicyFuzz.dialects.flatMap { dialect =>
      val texts = dialect.windows.map(_.text) ++ Corpus.of(dialect.name)
      val accepted = texts.flatMap(dialect.parse(_, Trial.scope).toOption)
      assert(accepted.size > dialect.windows.size)
      accepted.flatMap(policy => Machine.unsupported(policy).map(policy.text -> _))
    }
    assert(unknown.isEmpty)
  }

  test("a piece that a combination does not evaluate is refused, not ignored") {
    val slack = policy(Ccl, "KEEP 4 ROWS SLACK 2").retention.windows
    val unique = policy(Esper, "#unique(k)").retention.windows
    val reported =
      unique.map(window => window.copy(triggers = window.triggers.copy(report = EachRows(2))))
    Seq(slack ++ unique, reported, slack).foreach { windows =>
      val together = policy(Esper, "#keepall").copy(retention = Retention.Intersection(windows))
      assert(Machine.unsupported(together).exists(_.contains("combination")), windows)
    }
    assert(Machine.unsupported(policy(Esper, "#length(4)#unique(k)")).isEmpty)
  }

  test("windows with net changes do not pass for windows that emit all changes") {
    val both = policy(Esper, "#unique(k)")
    assert(Machine.unsupported(both).isEmpty)
    val net = both.copy(stream = both.stream.copy(order = StepOrder.Net))
    assert(Machine.unsupported(net).exists(_.contains("Net")))
  }

  test("independent windows are refused if they cannot share their rows") {
    val parts = Seq("#length(3)", "#unique(k)").map(text => text -> policy(Esper, text).retention)
    def reason(named: (String, Retention)*): Option[String] = Machine.unsupported(
      policy(Esper, "#keepall").copy(retention = Retention.Independent(named)))
    assert(reason(parts.head).isEmpty)
    assert(reason(parts: _*).exists(_.contains("the window #unique(k)")))
    assert(reason("a" -> Retention.Independent(parts.take(1))).exists(_.contains("not several")))
  }
}

private object SupportSuite {
  private def policy(dialect: Dialect, text: String): Policy =
    RowValues.policy(dialect, text)

  private val conditions = Gen.oneOf(RowValues.conditions.keys.toSeq).map { text =>
    policy(Esper, s"#expr($text)").retention.windows.head.bound match {
      case Fails(condition) => condition
      case bound => throw new IllegalArgumentException(s"$text became $bound")
    }
  }

  val policies: Gen[Policy] = new RandomPolicies(
    StoredMachineSuite.policies.map { case (dialect, text) => policy(dialect, text) },
    key = "k",
    value = "v",
    timestamp = "ts",
    conditions).all
}
