package winops.storage.btree

import java.nio.ByteBuffer

import scala.util.Random

import org.openjdk.jmh.annotations._

import winops.benchmarks.AverageNanos
import winops.storage.bytes.HeapSegments

/** Changes a map whose keys are accessed in random order. */
class PagedMapBenchmark extends AverageNanos {
  import PagedMapBenchmark._

  @Param(Array("100", "1000000"))
  var size: Int = _

  private val map = new Pages(new HeapSegments).newMap()
  private val value = new Array[Byte](ValueBytes)
  private var keys: Array[Array[Byte]] = _
  private var last = 0

  @Setup
  def fill(): Unit = {
    keys = new Random(Seed).shuffle((0 until size).toVector).map(keyOf).toArray
    keys.foreach(map.put(_, value))
    assert(map.size == size)
  }

  /** Replaces the value of an existing key. */
  @Benchmark
  def replace(): Unit = map.put(next(), value)

  /** Removes an existing key and inserts it again. */
  @Benchmark
  def removeAndPut(): Boolean = {
    val key = next()
    val wasThere = map.remove(key)
    map.put(key, value)
    wasThere
  }

  private def next(): Array[Byte] = {
    last = if (last + 1 == size) 0 else last + 1
    keys(last)
  }
}

object PagedMapBenchmark {
  private val ValueBytes = 8
  private val Seed = 1L

  private def keyOf(number: Int): Array[Byte] =
    ByteBuffer.allocate(java.lang.Long.BYTES).putLong(number.toLong).array
}
