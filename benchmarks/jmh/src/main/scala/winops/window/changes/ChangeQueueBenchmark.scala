package winops.window.changes

import java.util.ArrayDeque

import org.openjdk.jmh.annotations._

import winops.benchmarks.AverageNanos
import winops.terms.Stream

/** Adds the changes of rows and reads them, as a window of the newest rows does: each row enters
  * and evicts another one.
  */
class ChangeQueueBenchmark extends AverageNanos {
  import ChangeQueueBenchmark._

  /** The number of rows before the changes are read. */
  @Param(Array("1", "1000"))
  var rows: Int = _

  private val queue = new ChangeQueue(Stream.InsertsThenDeletes)
  private val deque = new ArrayDeque[Change]
  private var row = 0L

  @Benchmark
  @OperationsPerInvocation(1000)
  def changeQueue(): Long = {
    var sum = 0L
    var n = 0
    while (n < 1000) {
      var i = 0
      while (i < rows) {
        queue.beginStep(row)
        queue.insert(row, row + 1, ChangeReason.Arrived)
        queue.delete(row - 100, row - 99, ChangeReason.Displaced)
        queue.endStep()
        row += 1
        i += 1
      }
      while (!queue.isEmpty) {
        queue.next()
        sum += queue.ordinal + queue.kind + queue.sequence + queue.step + queue.at
      }
      n += rows
    }
    sum
  }

  @Benchmark
  @OperationsPerInvocation(1000)
  def arrayDeque(): Long = {
    var sum = 0L
    var n = 0
    while (n < 1000) {
      var i = 0
      while (i < rows) {
        deque.add(new Change(ChangeKind.Insert, 0, row, row + 1, row, row, 2 * row))
        deque.add(new Change(ChangeKind.Delete, 0, row - 100, row - 99, row, row, 2 * row + 1))
        row += 1
        i += 1
      }
      while (!deque.isEmpty) {
        val next = deque.poll()
        sum += next.row + next.kind + next.sequence + next.step + next.at
      }
      n += rows
    }
    sum
  }
}

object ChangeQueueBenchmark {
  final class Change(
      val kind: Int,
      val window: Int,
      val row: Long,
      val until: Long,
      val at: Long,
      val step: Long,
      val sequence: Long)
}
