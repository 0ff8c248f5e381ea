package org.apache.spark.sql.winops.internal

import org.apache.spark.{SparkContext, SparkEnv, TaskContext}
import org.apache.spark.internal.config._
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, SparkOutOfMemoryError, TaskMemoryManager, UnifiedMemoryManager}
import org.apache.spark.unsafe.memory.MemoryBlock

/** Allocates memory of the current task, which Spark frees at the end of the task at the latest.
  *
  * The consumer does not spill for others. It is therefore limited to half of the memory that
  * Spark guarantees to each task, so that a sorter and other operators of the task can always
  * allocate.
  */
final class TaskPages private (memory: TaskMemoryManager)
    extends MemoryConsumer(memory, TaskPages.SmallestPage, memory.getTungstenMemoryMode) {
  import TaskPages._

  private var pages = 0
  private val limit = TaskPages.guaranteed(memory.getTungstenMemoryMode) / 2

  /** Allocates a page of `bytes` bytes, or returns null at the limit of this consumer or the
    * task.
    */
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

  /** Half of the 8192 pages that Spark allows a task, so that others can allocate pages too. */
  private val MaxPages = 4096

  /** Returns true in a task of Spark's, which has memory to allocate from. */
  def isInTask: Boolean = TaskContext.get() != null

  def ofTask(): TaskPages = new TaskPages(TaskContext.get().taskMemoryManager())

  /** The maximum number of rows in memory, from a Spark setting that is meant for tests. */
  def maxRows: Int = Option(SparkEnv.get).fold(Int.MaxValue) { env =>
    env.conf.get(SHUFFLE_SPILL_NUM_ELEMENTS_FORCE_SPILL_THRESHOLD)
  }

  /** The memory that Spark guarantees to a task before it must spill: half of an even share of
    * the memory that is not reserved for storage.
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
    // A whole number, from Spark 4.3 on also a fraction.
    val cpus = conf.getOption(CPUS_PER_TASK.key).fold(BigDecimal(1))(BigDecimal(_))
    (Math.max(cores, ofDriver) / cpus).toInt
  }

  /** The maximum number of segments of a group in memory, from a setting that is meant for tests.
    */
  def maxSegments: Int = Option(SparkEnv.get).fold(Int.MaxValue) { env =>
    env.conf.getInt("winops.testing.maxSegments", Int.MaxValue)
  }

  /** The bound of the pages that a task has loaded: as much as Spark guarantees to the task on
    * the heap, but at least `least`. A setting that is meant for tests replaces it.
    */
  def boundOfLoaded(least: Long): Long = Option(SparkEnv.get).fold(least) { env =>
    env.conf
      .getOption("winops.testing.pageBytes")
      .fold(Math.max(least, guaranteed(MemoryMode.ON_HEAP)))(_.toLong)
  }

  def whenTaskEnds(body: => Unit): Unit = {
    val _ = TaskContext.get().addTaskCompletionListener[Unit](_ => body)
  }
}
