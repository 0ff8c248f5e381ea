package org.apache.spark.sql.winops

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.internal.config.SHUFFLE_SPILL_NUM_ELEMENTS_FORCE_SPILL_THRESHOLD
import org.apache.spark.memory.{MemoryConsumer, SparkOutOfMemoryError, TaskMemoryManager}
import org.apache.spark.unsafe.memory.MemoryBlock

/** Memory of the current task, which is given back when the task ends if not before. Whoever has
  * it does not give it up for others.
  */
final class TaskPages private (memory: TaskMemoryManager)
    extends MemoryConsumer(memory, TaskPages.SmallestPage, memory.getTungstenMemoryMode) {
  import TaskPages._

  private var pages = 0

  /** A page of `bytes` bytes; null if the task can have no more memory. */
  def take(bytes: Long): MemoryBlock =
    if (pages == MaxPages) null
    else {
      try {
        val page = allocatePage(bytes)
        pages += 1
        page
      } catch { case _: SparkOutOfMemoryError => null }
    }

  def giveBack(page: MemoryBlock): Unit = {
    freePage(page)
    pages -= 1
  }

  override def spill(size: Long, trigger: MemoryConsumer): Long = 0L
}

object TaskPages {

  private val SmallestPage = 1L

  /** A task can have 8192, and others need some. */
  private val MaxPages = 4096

  def ofTask(): TaskPages = new TaskPages(TaskContext.get().taskMemoryManager())

  /** How many rows may be in memory whatever there is of it; a setting of Spark's for tests. */
  def maxRows: Int = Option(SparkEnv.get).fold(Int.MaxValue) { env =>
    env.conf.get(SHUFFLE_SPILL_NUM_ELEMENTS_FORCE_SPILL_THRESHOLD)
  }

  def whenTaskEnds(body: => Unit): Unit = {
    val _ = TaskContext.get().addTaskCompletionListener[Unit](_ => body)
  }
}
