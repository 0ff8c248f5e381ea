package winops.spark.execution

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class LatenciesSuite extends AnyFunSuite {
  test("a percentile is at most an eighth too great, and never too small") {
    val random = new Random(5)
    Seq(10L, 1000L, 5000000L, 1L << 39).foreach { greatest =>
      val times = Seq.fill(1000)((random.nextDouble() * greatest).toLong).sorted
      val (one, other) = (new Latencies, new Latencies)
      times.zipWithIndex.foreach { case (time, i) => (if (i % 2 == 0) one else other).add(time) }
      one.add(other)
      Seq(0.01, 0.5, 0.9, 0.99, 1.0).foreach { share =>
        val exact = times(Math.ceil(1000 * share).toInt - 1)
        val found = one.percentile(share)
        assert(found >= exact && found <= exact + exact / 8 + 1)
      }
    }
  }

  test("without times, a percentile is 0") {
    assert(new Latencies().percentile(0.99) == 0)
  }
}
