package winops.window.changes

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import winops.terms.Stream

class ChangeQueueSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import ChangeQueueSuite._

  test("changes come out one row at a time, in the order in which they were added") {
    forAll(ops, Gen.choose(1, 6)) { (ops, repeats) =>
      val queue = new ChangeQueue(Stream.InsertsThenDeletes)
      val model = mutable.Queue.empty[One]
      var row = 0L
      var step = 0L
      // Repeats make the queue wrap and grow; a short list of operations would not.
      Seq.fill(repeats * 3)(ops).flatten.foreach {
        case Add(insert, rows, at, window) =>
          queue.beginStep(at)
          queue.writeWindow(window)
          if (insert) queue.insert(row, row + rows, ChangeReason.Arrived)
          else queue.delete(row, row + rows, ChangeReason.Expired)
          queue.endStep()
          (0 until rows).foreach(i => model += One(insert, row + i, at, step, row + i, window))
          row += rows
          step += 1
        case Take(changes) =>
          (0 until math.min(changes, model.size)).foreach(_ => takeOne(queue, model))
      }
      while (model.nonEmpty) takeOne(queue, model)
      assert(queue.isEmpty)
    }
  }

  test("rows that enter or leave are counted, whether or not they are emitted") {
    val queue = new ChangeQueue(Stream.InsertsThenDeletes.copy(deletes = false))
    queue.beginStep(5L)
    queue.insert(0L, 5L, ChangeReason.Arrived)
    queue.delete(0L, 2L, ChangeReason.Expired)
    queue.deleteGroup(2L, 5L, ChangeReason.GroupIdle)
    queue.evictSilently(1L)
    queue.delete(5L, 5L, ChangeReason.Expired)
    queue.content(0L, 5L)
    queue.endStep()
    assert(queue.rowsMoved == 11L)
  }

  test("rows that follow each other are one entry, but for those of different windows") {
    val queue = new ChangeQueue(Stream.InsertsThenDeletes)
    queue.beginStep(5L)
    def add(row: Long, window: Int): Unit = {
      queue.writeWindow(window)
      queue.insert(row, row + 1, ChangeReason.Arrived)
    }
    add(0L, window = 0)
    add(1L, window = 0)
    add(2L, window = 1)
    queue.endStep()
    val entries = Iterator
      .continually(())
      .takeWhile(_ => !queue.isEmpty)
      .map { _ =>
        queue.nextEntry()
        (queue.ordinal, queue.end, queue.window)
      }
    assert(entries.toSeq == Seq((0L, 2L, 0), (2L, 3L, 1)))
  }

  test("only a step that emitted something takes a number, and nested steps are one") {
    val queue = new ChangeQueue(Stream.InsertsThenDeletes.copy(inserts = false))
    def step(write: => Unit): Unit = {
      queue.beginStep(0L)
      write
      queue.endStep()
    }
    step(queue.insert(0L, 1L, ChangeReason.Arrived))
    step(queue.emptyTrigger())
    step {
      step(queue.delete(0L, 1L, ChangeReason.Expired))
      step(queue.delete(1L, 2L, ChangeReason.Displaced))
    }
    step(queue.delete(2L, 3L, ChangeReason.Expired))
    queue.nextEntry()
    assert(queue.kind == ChangeKind.EmptyTrigger)
    val numbers = Iterator
      .continually(())
      .takeWhile(_ => !queue.isEmpty)
      .map { _ =>
        queue.next()
        (queue.ordinal, queue.step, queue.sequence)
      }
    assert(numbers.toSeq == Seq((0L, 0L, 0L), (1L, 0L, 1L), (2L, 1L, 2L)))
  }

  private def takeOne(queue: ChangeQueue, model: mutable.Queue[One]): Unit = {
    assert(!queue.isEmpty)
    queue.next()
    val taken =
      One(queue.isInsert, queue.ordinal, queue.at, queue.step, queue.sequence, queue.window)
    assert(taken == model.dequeue())
  }
}

private object ChangeQueueSuite {
  final case class One(
      insert: Boolean,
      row: Long,
      at: Long,
      step: Long,
      sequence: Long,
      window: Int)

  sealed trait Op
  final case class Add(insert: Boolean, rows: Int, at: Long, window: Int) extends Op
  final case class Take(changes: Int) extends Op

  val ops: Gen[Seq[Op]] = Gen.listOf(
    Gen.oneOf(
      Gen
        .zip(Gen.oneOf(true, false), Gen.choose(1, 9), Gen.choose(-9L, 9L), Gen.oneOf(0, 1, 300))
        .map { case (insert, rows, at, window) => Add(insert, rows, at, window) },
      Gen.choose(0, 12).map(Take(_))))
}
