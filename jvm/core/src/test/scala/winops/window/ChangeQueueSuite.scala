package winops.window

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class ChangeQueueSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import ChangeQueueSuite._

  test("changes come out one row at a time, in the order in which they were added") {
    forAll(ops, Gen.choose(1, 6)) { (ops, repeats) =>
      val queue = new ChangeQueue
      val model = mutable.Queue.empty[One]
      var row = 0L
      var step = 0L
      var sequence = 0L
      // Repeats make the queue wrap and grow, which a short list of operations would not.
      Seq.fill(repeats * 3)(ops).flatten.foreach {
        case Add(insert, rows, at) =>
          queue.add(
            if (insert) ChangeKind.Insert else ChangeKind.Delete,
            row,
            row + rows,
            at,
            step,
            sequence)
          (0 until rows).foreach(i => model += One(insert, row + i, at, step, sequence + i))
          row += rows
          sequence += rows
          step += 1
        case Take(changes) =>
          (0 until math.min(changes, model.size)).foreach(_ => takeOne(queue, model))
      }
      while (model.nonEmpty) takeOne(queue, model)
      assert(queue.isEmpty)
    }
  }

  private def takeOne(queue: ChangeQueue, model: mutable.Queue[One]): Unit = {
    assert(!queue.isEmpty)
    queue.next()
    val taken = One(queue.isInsert, queue.ordinal, queue.at, queue.step, queue.sequence)
    assert(taken == model.dequeue())
  }
}

private object ChangeQueueSuite {
  final case class One(insert: Boolean, row: Long, at: Long, step: Long, sequence: Long)

  sealed trait Op
  final case class Add(insert: Boolean, rows: Int, at: Long) extends Op
  final case class Take(changes: Int) extends Op

  val ops: Gen[Seq[Op]] = Gen.listOf(
    Gen.oneOf(
      Gen.zip(Gen.oneOf(true, false), Gen.choose(1, 9), Gen.choose(-9L, 9L)).map {
        case (insert, rows, at) => Add(insert, rows, at)
      },
      Gen.choose(0, 12).map(Take(_))))
}
