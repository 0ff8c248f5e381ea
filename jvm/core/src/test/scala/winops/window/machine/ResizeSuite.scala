package winops.window.machine

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import winops.testing.{CclWindow, DrivenGroup, Input, NaiveWindow}

/** A window restores the state of another window that differs only in its length. */
class ResizeSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500, maxDiscardedFactor = 20)

  test("rows that are too many or too old for the new length leave as the rules say") {
    forAll(CclWindow.any, CclWindow.any, Input.sequences, Input.sequences) {
      (before, other, early, late) =>
        val after = (before, other) match {
          case (CclWindow.EveryInterval(_, origin), every: CclWindow.EveryInterval) =>
            every.copy(origin = origin)
          case _ => other
        }
        whenever(before.policy.resizable.exists(after.policy.resizable.contains)) {
          val instant = early.map(_.at).maxOption.map(Input.Time(_)).toSeq
          val naive = new NaiveWindow(before, None)
          val group = new DrivenGroup(before, None)
          val emitted = early.flatMap(group.feed)
          assert(emitted == naive.feed(early))

          group.restartAs(after.policy, group.save())
          naive.become(after)
          // Every group is visited once after the restart, even without new rows.
          val more = (instant ++ late).flatMap(group.feed)
          assert(emitted ++ more == naive.feed(late))
          assert(group.content == naive.content)
        }
    }
  }
}
