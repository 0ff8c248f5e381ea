package winops.storage.rows

import org.openjdk.jmh.annotations._

import org.apache.spark.unsafe.Platform

import winops.benchmarks.{AverageNanos, Trades}
import winops.storage.bytes.{ByteReader, ByteWriter}

/** Packs and unpacks a row that is stored with its group, as its difference to the row before. */
class RowBufferBenchmark extends AverageNanos {
  import RowBufferBenchmark._

  private val buffer = new RowBuffer(withArrival = false)
  private val out = new ByteWriter
  private var packed: Array[Byte] = _

  @Setup
  def fill(): Unit = {
    val trades = new Trades(symbols = 1, noise = 10000)
    (0 until Rows).foreach { _ =>
      val row = trades.next()
      val at = buffer.append(trades.instant, row.getSizeInBytes)
      row.writeToMemory(buffer.bytes, Platform.BYTE_ARRAY_OFFSET + at.toLong)
    }
    buffer.write(out, Rows)
    packed = out.toArray
  }

  @Benchmark
  @OperationsPerInvocation(Rows)
  def write(): Int = {
    out.clear()
    buffer.write(out, Rows)
    out.end
  }

  @Benchmark
  @OperationsPerInvocation(Rows)
  def read(): Int = {
    buffer.read(new ByteReader(packed), Rows)
    buffer.count
  }
}

object RowBufferBenchmark {
  final val Rows = 100
}
