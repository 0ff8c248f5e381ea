package winops.storage.rows

import org.openjdk.jmh.annotations._
import org.openjdk.jmh.infra.Blackhole

import winops.benchmarks.{AverageNanos, Trades}
import winops.spark.row.RowBytes
import winops.storage.bytes.HeapSegments

/** Appends a row to a log, then reads and releases its oldest row. A long log has most of its
  * rows in segments.
  */
class RowLogBenchmark extends AverageNanos {
  import RowLogBenchmark._

  @Param(Array("100", "10000", "1000000"))
  var size: Int = _

  private val trades = new Trades(symbols = 1, noise = 10000)
  private val log = new RowLog(new HeapSegments, withArrival = false)

  @Setup
  def fill(): Unit = while (log.size < size) append()

  @Benchmark
  @OperationsPerInvocation(RowsPerInvocation)
  def appendAndRelease(blackhole: Blackhole): Unit = {
    var i = 0
    while (i < RowsPerInvocation) {
      append()
      log.find(log.first)
      blackhole.consume(log.rowLength)
      log.release(log.first + 1)
      i += 1
    }
  }

  private def append(): Unit = RowBytes.append(log, trades.instant, trades.next())
}

object RowLogBenchmark {
  final val RowsPerInvocation = 1000
}
