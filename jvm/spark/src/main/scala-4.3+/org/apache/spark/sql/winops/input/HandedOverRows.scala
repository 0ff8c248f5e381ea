package org.apache.spark.sql.winops.input

import java.util.concurrent.{ArrayBlockingQueue, TimeUnit}

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.input.ArrivingRows

/** Rows that a thread of its own reads and hands over to the task, so that the task can wait for
  * a row or for an instant of the clock, whichever comes first.
  *
  * @param rows
  *   the input, which only that thread reads
  * @param context
  *   the task, at whose end the thread is stopped
  * @param clock
  *   the clock in milliseconds
  */
final class HandedOverRows(rows: Iterator[UnsafeRow], context: TaskContext, clock: () => Long)
    extends ArrivingRows {
  import HandedOverRows._

  private val queue = new ArrayBlockingQueue[Message](Capacity)
  @volatile private var isStopped = false

  private var ahead: UnsafeRow = _
  private var foundAt = 0L
  private var ended = false

  private val reader = new Thread(s"winops-rows-of-task-${context.taskAttemptId()}") {
    override def run(): Unit = read()
  }
  reader.setDaemon(true)
  // Listeners run last in, first out: the thread ends before its input is closed.
  context.addTaskCompletionListener[Unit](_ => stop())
  reader.start()

  override def await(until: Long): Boolean = {
    if (ahead == null && !ended) {
      take(queue.poll())
      var left = until - clock()
      while (ahead == null && !ended && left > 0) {
        // The clock may be set while the task waits.
        take(queue.poll(Math.min(left, LongestWaitMillis), TimeUnit.MILLISECONDS))
        left = until - clock()
      }
    }
    ahead != null
  }

  override def isEnded: Boolean = ended && ahead == null
  override def arrivedAt: Long = foundAt

  override def next(): UnsafeRow = {
    val row = ahead
    ahead = null
    row
  }

  private def take(message: Message): Unit = message match {
    case null =>
    case Row(row, at) =>
      ahead = row
      foundAt = at
    case End => ended = true
    case Failure(error) =>
      ended = true
      throw error
  }

  private def read(): Unit = {
    TaskContext.setTaskContext(context)
    try {
      val last =
        try {
          // The input may use the memory of a row again for the next one.
          while (rows.hasNext) queue.put(Row(rows.next().copy(), System.nanoTime))
          End
        } catch { case error: Throwable => Failure(error) }
      if (!isStopped) queue.put(last)
    } catch { case _: InterruptedException => }
    finally TaskContext.unset()
  }

  private def stop(): Unit = {
    isStopped = true
    reader.interrupt()
    reader.join(LongestStopMillis)
  }
}

private object HandedOverRows {
  private sealed trait Message

  /** A row, and when it has arrived. */
  private final case class Row(row: UnsafeRow, at: Long) extends Message
  private final case class Failure(error: Throwable) extends Message
  private case object End extends Message

  /** The number of rows that wait in memory for the task. */
  private val Capacity = 1024

  private val LongestWaitMillis = 20L
  private val LongestStopMillis = 10000L
}
