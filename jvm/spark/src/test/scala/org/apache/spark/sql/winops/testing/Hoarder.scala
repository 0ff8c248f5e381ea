package org.apache.spark.sql.winops.testing

import scala.collection.mutable

import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}

/** Acquires a task's memory until other consumers have spilled. */
private[winops] final class Hoarder(memory: TaskMemoryManager)
    extends MemoryConsumer(memory, memory.pageSizeBytes(), MemoryMode.ON_HEAP) {
  private val taken = mutable.ArrayBuffer.empty[Long]

  override def spill(size: Long, trigger: MemoryConsumer): Long = 0L

  def takeEverything(): Unit = {
    val step = 64L << 20
    var got = acquireMemory(step)
    while (got > 0) {
      taken += got
      got = acquireMemory(step)
    }
  }

  def giveBack(): Unit = taken.foreach(freeMemory)
}
