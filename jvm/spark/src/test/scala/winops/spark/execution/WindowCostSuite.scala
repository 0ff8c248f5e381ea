package winops.spark.execution

import scala.util.Random

import winops.spark.plan.Application
import winops.spark.testing.{Arrived, DrivenTask, KeepPlans}
import winops.testing.TableTests
import winops.text.esper.Esper

/** The cost of a row in a large window, counted in reads and writes of the state. */
class WindowCostSuite extends TableTests {
  import KeepPlans._
  import WindowCostSuite._

  testEach("a row in a window of 100,000 rows touches what changes and no more", short = 4)(
    "#rank(n, 100000, text)" -> Effect(inserts = 1, deletes = 1),
    "#time_order(n, 1 day)" -> Effect(inserts = 1, deletes = 0),
    "#length(100000)#unique(n)" -> Effect(inserts = 1, deletes = 1),
    "#length(100000)#time(1 day)" -> Effect(inserts = 1, deletes = 1),
    "#sort(100000, n)" -> Effect(inserts = 1, deletes = 1),
    "#unique(n)" -> Effect(inserts = 1, deletes = 0),
    "#timetolive(n + 86400000)" -> Effect(inserts = 1, deletes = 0)) { case (policy, effect) =>
    val numbers = new Random(1).shuffle((0 until Held).toVector)
    val driven = new DrivenTask(plan(spec(policy, Some(Application.Arrival), dialect = Esper)))
    driven.batch(0L, 0L)(numbers.map(row): _*)
    assert(driven.rowsHeld == Held)
    (Held until Held + 20).foreach { n =>
      driven.counted.reset()
      val emitted = driven.batch(0L, 0L)(row(n))
      assert(
        Effect(emitted.count(_.kind == "insert"), emitted.count(_.kind == "delete")) == effect)
      assert(driven.counted.valuesTouched <= MaxValues)
      assert(driven.counted.bytesTouched <= MaxBytes)
    }
  }
}

private object WindowCostSuite {
  final case class Effect(inserts: Int, deletes: Int)

  val Held = 100000

  def row(n: Int): Arrived = Arrived(1L, Some(2000000L), n.toLong, s"row $n")

  /** The reads of a search and the writes of a change, in two trees of three levels each. */
  val MaxValues = 40
  val MaxBytes = 200000L
}
