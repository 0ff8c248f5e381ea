package winops.aggregation

import scala.util.Random

import org.openjdk.jmh.annotations._
import org.openjdk.jmh.infra.Blackhole

import winops.benchmarks.AverageNanos
import winops.storage.btree.Pages
import winops.storage.bytes.HeapSegments

/** Inserts a row into a window, evicts another one and computes the summary of the window. */
class AggregationBenchmark extends AverageNanos {
  import AggregationBenchmark._

  /** The number of rows in the window. */
  @Param(Array("100", "1000000"))
  var size: Int = _

  private val summaries = new SumAndMax
  private val front = new FrontSummary(summaries, new Pages(new HeapSegments))
  private val tree = new TreeSummary(summaries, new Pages(new HeapSegments).newMap())
  private var end = 0L
  private var held: Array[Long] = _
  private val random = new Random(1L)

  @Setup
  def fill(): Unit = {
    end = size.toLong
    held = Array.tabulate(size)(_.toLong)
    Seq(front, tree).foreach { summary =>
      summary.insert(0L, end)
      assert(summary.total(0) > 0L)
    }
  }

  @Benchmark
  @OperationsPerInvocation(RowsPerInvocation)
  def oldestLeaves(blackhole: Blackhole): Unit = {
    var i = 0
    while (i < RowsPerInvocation) {
      front.insert(end, end + 1)
      front.remove(end - size, end - size + 1)
      end += 1
      blackhole.consume(front.total)
      i += 1
    }
  }

  @Benchmark
  @OperationsPerInvocation(RowsPerInvocation)
  def anyLeaves(blackhole: Blackhole): Unit = {
    var i = 0
    while (i < RowsPerInvocation) {
      val place = random.nextInt(size)
      tree.insert(end, end + 1)
      tree.remove(held(place), held(place) + 1)
      held(place) = end
      end += 1
      blackhole.consume(tree.total)
      i += 1
    }
  }
}

object AggregationBenchmark {
  final val RowsPerInvocation = 1000
}
