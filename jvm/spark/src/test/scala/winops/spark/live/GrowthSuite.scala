package winops.spark.live

import org.scalatest.funsuite.AnyFunSuite

class GrowthSuite extends AnyFunSuite {
  private val rising = (1L to Growth.Batches.toLong).toVector

  test("numbers that grow over all micro-batches are an alert") {
    assert(Growth.of(rising).contains(Growth(1, Growth.Batches.toLong)))
    assert(Growth.of(-5L +: rising).contains(Growth(1, Growth.Batches.toLong)))
  }

  test("fewer micro-batches are no alert") {
    assert(Growth.of(rising.tail).isEmpty)
    assert(Growth.of(Nil).isEmpty)
  }

  test("a number that once fell is no alert") {
    assert(Growth.of(rising.updated(50, 0L)).isEmpty)
    assert(Growth.of(rising.init :+ 1L).isEmpty)
  }

  test("a window that has filled up is no alert") {
    val filled = rising.map(Math.min(_, (Growth.Batches - Growth.Recent).toLong))
    assert(Growth.of(filled).isEmpty)
    assert(Growth.of(filled.init :+ Growth.Batches.toLong).isDefined)
  }

  test("growth in few micro-batches is no alert") {
    def grown(times: Int) = rising.map(i => Math.max(0L, i - (Growth.Batches - times)))
    assert(Growth.of(grown(Growth.LeastGrown - 1)).isEmpty)
    assert(Growth.of(grown(Growth.LeastGrown)).isDefined)
  }
}
