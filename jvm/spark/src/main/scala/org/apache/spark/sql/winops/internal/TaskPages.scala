package org.apache.spark.sql.winops.internal

import org.apache.spark.{SparkContext, SparkEnv, TaskContext}
import org.apache.spark.internal.config._
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, SparkOutOfMemoryError, TaskMemoryManager, UnifiedMemoryManager}
import org.apache.spark.unsafe.memory.MemoryBlock

/** Memory of the current task, which is given back when the task ends if not before.
  *
  * Whoever has it does not give it up for others, so it is no more than half of what Spark
  * guarantees to each task however many there are: a sorter, and other operators of the task,
  * always find some.
  */
final class TaskPages private (memory: TaskMemoryManager)
    extends MemoryConsumer(memory, TaskPages.SmallestPage, memory.getTungstenMemoryMode) {
  import TaskPages._

  private var pages = 0
  private val limit = TaskPages.guaranteed(memory.getTungstenMemoryMode) / 2

  /** A page of `bytes` bytes; null if the task can have no more memory. */
  def take(bytes: Long): MemoryBlock =
    if (pages == MaxPages || getUsed + bytes > limit) null
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

  /** What a task gets before it has to spill: half of an even share, of what storage does not
    * keep for itself.
    */
  private def guaranteed(mode: MemoryMode): Long = {
    val conf = SparkEnv.get.conf
    val all = (mode, SparkEnv.get.memoryManager) match {
      case (MemoryMode.OFF_HEAP, _) => conf.get(MEMORY_OFFHEAP_SIZE)
      case (_, unified: UnifiedMemoryManager) => unified.maxHeapMemory
      case (_, other) => other.maxOnHeapStorageMemory
    }
    val ofExecution = all * (1 - conf.get(MEMORY_STORAGE_FRACTION))
    (ofExecution / (2 * tasksAtOnce)).toLong
  }

  private def tasksAtOnce: Int = {
    val conf = SparkEnv.get.conf
    val ofDriver = SparkContext.numDriverCores(conf.get("spark.master", ""))
    val cores = conf
      .getOption(EXECUTOR_CORES.key)
      .fold(Runtime.getRuntime.availableProcessors)(_.toInt)
    Math.max(cores, ofDriver) / conf.get(CPUS_PER_TASK)
  }

  def whenTaskEnds(body: => Unit): Unit = {
    val _ = TaskContext.get().addTaskCompletionListener[Unit](_ => body)
  }
}
