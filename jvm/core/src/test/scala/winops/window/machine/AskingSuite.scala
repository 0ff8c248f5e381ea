package winops.window.machine

import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import winops.testing.{CclWindow, DrivenGroup, Input, NaiveWindow}

/** Rows that read a window and do not enter it. */
class AskingSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  private val idle = Gen.option(Gen.choose(1L, 90L))

  /** Inputs in the order of time; the instants are those of rows that ask. */
  private val inOrder = Input.sequences.map(_.sortBy(_.at))

  test("a row that asks finds the rows up to its time, wherever the group is stored") {
    forAll(CclWindow.any, idle, inOrder, Gen.long) { (keep, idle, inputs, seed) =>
      val naive = new NaiveWindow(keep, idle)
      val group = new DrivenGroup(keep, idle)
      val random = new Random(seed)
      inputs.foreach { input =>
        random.nextInt(4) match {
          case 0 => group.restore(group.save())
          case 1 => group.restart(group.save())
          case _ =>
        }
        naive.feed(Seq(input))
        val found = input match {
          case Input.Row(_) =>
            group.feed(input)
            group.content
          case Input.Time(at) => group.ask(at)._2
        }
        assert(found == naive.content)
      }
    }
  }

  test("rows that ask in the order of time change nothing") {
    forAll(CclWindow.any, idle, inOrder) { (keep, idle, inputs) =>
      val end = Input.Time(inputs.lastOption.fold(0L)(_.at))
      val asked = new DrivenGroup(keep, idle)
      val emitted = inputs.flatMap {
        case Input.Time(at) => asked.ask(at)._1
        case row => asked.feed(row)
      } ++ asked.feed(end)
      val rows = inputs.filter(_.isInstanceOf[Input.Row])
      assert(emitted == new NaiveWindow(keep, idle).feed(rows :+ end))
    }
  }

  test("a row that asks a group without rows leaves no clock") {
    val group = new DrivenGroup(CclWindow.Rows(2, 1), None)
    val (emitted, content) = group.ask(100L)
    assert(emitted.isEmpty && content.isEmpty && !group.isAlive)
    assert(group.feed(Input.Row(50L)).map(_.at) == Seq(50L))
  }

  test("a row that asks does not keep a group from being forgotten") {
    val group = new DrivenGroup(CclWindow.All, Some(10L))
    group.feed(Input.Row(0L))
    assert(group.ask(9L)._2 == Seq(0))
    val (emitted, content) = group.ask(10L)
    assert(emitted.map(change => (change.isInsert, change.at)) == Seq((false, 10L)))
    assert(content.isEmpty && !group.isAlive)
  }
}
