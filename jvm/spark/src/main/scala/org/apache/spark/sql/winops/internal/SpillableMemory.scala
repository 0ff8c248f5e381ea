package org.apache.spark.sql.winops.internal

import org.apache.spark.TaskContext
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}

/** Accounts to Spark's memory manager for objects that a task has on the heap, and lets Spark ask
  * for them to be spilled.
  *
  * The first [[SpillableMemory.FreeBytes]] bytes are not accounted for, so that a task with small
  * groups never asks the manager, whose memory its input may have taken.
  *
  * @param owner
  *   moves all of the objects to disk
  * @param limit
  *   number of bytes at most, whatever Spark grants
  */
final class SpillableMemory(owner: () => Unit, limit: Long = Long.MaxValue) {
  import SpillableMemory._

  private val mostObjects = TaskPages.maxSegments
  private val manager = Option(TaskContext.get()).map(_.taskMemoryManager())
  private var held = 0L
  private var granted = 0L
  private var consumer: Consumer = _

  /** The thread that uses the objects. Spark may ask for a spill from another one, when it is not
    * safe to move them.
    */
  private var user: Thread = _

  /** Number of bytes on the heap. */
  def bytes: Long = held

  /** Adds the bytes of one of `objects` objects. Returns false if Spark does not grant them; the
    * owner then spills.
    */
  def take(bytes: Long, objects: Int): Boolean = {
    user = Thread.currentThread
    held += bytes
    val missing = held - Math.min(FreeBytes, limit) - granted
    if (missing > 0 && held <= limit) ask(missing)
    objects <= mostObjects && held <= limit && held <= FreeBytes + granted
  }

  /** Takes back bytes, which the owner may use again for other objects. */
  def giveBack(bytes: Long): Unit = held -= bytes

  /** Gives all bytes back to Spark, after the owner has spilled. */
  def giveBackAll(): Unit = {
    held = 0L
    if (granted > 0) consumer.freeMemory(granted)
    granted = 0L
  }

  private def ask(missing: Long): Unit =
    if (manager.isEmpty) granted += missing
    else {
      if (consumer == null) {
        consumer = new Consumer(manager.get)
        TaskPages.whenTaskEnds(giveBackAll())
      }
      granted += consumer.acquireMemory(Math.max(missing, ChunkBytes))
    }

  private final class Consumer(manager: TaskMemoryManager)
      extends MemoryConsumer(manager, ChunkBytes, MemoryMode.ON_HEAP) {

    override def spill(size: Long, trigger: MemoryConsumer): Long =
      if ((trigger eq this) || (Thread.currentThread ne user) || granted == 0) 0L
      else {
        val freed = granted
        owner()
        giveBackAll()
        freed
      }
  }
}

object SpillableMemory {

  /** Number of bytes that are not accounted for. */
  val FreeBytes: Long = 4L << 20

  private val ChunkBytes = 1L << 20
}
