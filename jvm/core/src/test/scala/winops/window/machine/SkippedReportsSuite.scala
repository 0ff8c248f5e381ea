package winops.window.machine

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import winops.policy.{Policy, Scope}
import winops.testing.{DrivenGroup, Input, ObservedChange}
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl

/** Reports and empty triggers that nobody reads are passed over, however many there are. */
class SkippedReportsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 60)

  private val policies = Seq(
    Esper -> "#time_batch(1 sec, 'FORCE_UPDATE')",
    Esper -> "#time_batch(1 sec, 300L, 'FORCE_UPDATE')",
    Esper -> "#time_batch(1 sec, 'START_EAGER')",
    Esper -> "#time_batch(1 month, 'FORCE_UPDATE')",
    Esper -> "#time_length_batch(1500 msec, 3, 'FORCE_UPDATE')",
    Esper -> "#time_length_batch(1 month, 3, 'FORCE_UPDATE')",
    Esper -> "#time(5 sec)#time_batch(2 sec, 'FORCE_UPDATE')",
    Esper -> "#length(2)#time_batch(1 sec, 'FORCE_UPDATE') retain-union",
    Spl -> "sliding, count(3), time(1)",
    Spl -> "sliding, count(3), time(0.0007)",
    Spl -> "sliding, time(7), time(1.5)").map { case (dialect, text) =>
    text -> parsed(dialect, text)
  }

  private def parsed(dialect: Dialect, text: String): Policy =
    dialect
      .parse(text, Scope(columns = Seq("x")))
      .fold(error => fail(s"$text: ${error.message}"), identity)

  // The steps of a month would take long one by one, those of a second too after a long silence.
  private val inputs: Gen[Seq[Input]] =
    Gen.listOf(Gen.zip(Gen.choose(0L, 6000L), Gen.oneOf(true, false))).map { steps =>
      steps.scanLeft((0L, true)) { case ((at, _), (away, isRow)) => (at + away, isRow) }.map {
        case (at, true) => Input.Row(at)
        case (at, false) => Input.Time(at)
      }
    }

  policies.foreach { case (text, policy) =>
    test(s"the changes of $text are the same with and without reports") {
      forAll(inputs, Gen.option(Gen.choose(1000L, 9000L))) { (inputs, idle) =>
        def run(skips: Boolean): (Seq[ObservedChange], Seq[Byte]) = {
          val group =
            new DrivenGroup(policy, idle, onlyChanges = true, skipsReports = skips)
          val changes = inputs.flatMap(group.feed)
          (changes, group.save().toSeq)
        }
        assert(run(skips = true) == run(skips = false))
      }
    }

    test(s"a row of the year 9999 is reached at once by $text") {
      val group = new DrivenGroup(policy, None, onlyChanges = true, skipsReports = true)
      (0L to 3L).foreach(i => group.feed(Input.Row(i * 400)))
      val far = 253402300799000L
      group.feed(Input.Row(far))
      assert(group.now == far && group.nextDue > far)
    }
  }
}
