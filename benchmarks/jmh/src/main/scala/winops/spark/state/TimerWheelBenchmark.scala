package winops.spark.state

import java.util.PriorityQueue

import scala.collection.mutable

import org.openjdk.jmh.annotations._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType}

import winops.benchmarks.AverageNanos
import winops.storage.bytes.{ByteReader, ByteWriter, HeapSegments}

/** The timers of a partition in one micro-batch: restores them, takes those that fire, registers
  * the next timer of each of their groups, and stores the timers.
  */
class TimerWheelBenchmark extends AverageNanos {
  import TimerWheelBenchmark._

  /** The number of groups, each with one timer. */
  @Param(Array("1000", "100000"))
  var groups: Int = _

  /** The number of timers that fire. */
  @Param(Array("0", "100"))
  var fired: Int = _

  private val slots = new HeapSegments
  private var stored: Array[Byte] = _
  private var now = 0L

  @Setup
  def register(): Unit = {
    val timers = new TimerWheel(slots, 1)
    val queue = new PriorityQueue[Timer](Ordering.by((timer: Timer) => timer.due))
    (0 until groups).foreach { i =>
      timers.add(1L + i, 0L, keyOf(i))
      queue.add(new Timer(1L + i, keyOf(i).getBytes))
    }
    val out = new ByteWriter
    timers.save(out)
    stored = out.toArray
    storedQueue = write(queue)
  }

  private var storedQueue: Array[Byte] = _

  @Benchmark
  def timerWheel(): Int = {
    now += fired
    val timers = new TimerWheel(slots, 1)
    timers.restore(new ByteReader(stored))
    val due = mutable.ArrayBuffer.empty[UnsafeRow]
    timers.takeDue(now)(key => due += key.copy())
    due.foreach(key => timers.add(now + groups, now, key))
    val out = new ByteWriter
    timers.save(out)
    stored = out.toArray
    due.size
  }

  @Benchmark
  def priorityQueue(): Int = {
    now += fired
    val in = new ByteReader(storedQueue)
    val queue = new PriorityQueue[Timer](Ordering.by((timer: Timer) => timer.due))
    while (in.remaining > 0) queue.add(new Timer(in.number(), in.block()))
    var count = 0
    while (queue.peek.due <= now) {
      queue.add(new Timer(now + groups, queue.poll().key))
      count += 1
    }
    storedQueue = write(queue)
    count
  }

  private def write(queue: PriorityQueue[Timer]): Array[Byte] = {
    val out = new ByteWriter
    queue.forEach { timer =>
      out.number(timer.due)
      out.block(timer.key)
    }
    out.toArray
  }
}

object TimerWheelBenchmark {
  final class Timer(val due: Long, val key: Array[Byte])

  private val projection = UnsafeProjection.create(Array[DataType](LongType))
  private def keyOf(k: Int): UnsafeRow = projection(InternalRow(k.toLong)).copy()
}
