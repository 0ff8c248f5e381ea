package winops.spark.live

import org.scalatest.funsuite.AnyFunSuite

class GrowthSuite extends AnyFunSuite {
  private val rising = (1L to Growth.Batches.toLong).toVector

  test("numbers that grow over all micro-batches are an alert") {
    assert(Growth.of(rising).contains(Growth(1, Growth.Batches.toLong, Growth.Batches)))
    assert(Growth.of(-5L +: rising).contains(Growth(1, Growth.Batches.toLong, Growth.Batches)))
  }

  test("steady growth is an alert from the twentieth micro-batch on") {
    assert(Growth.of(Nil).isEmpty)
    assert(Growth.of(rising.take(Growth.LeastBatches - 1)).isEmpty)
    val early = Growth.of(rising.take(Growth.LeastBatches).map(_ * 50))
    assert(early.contains(Growth(50, 1000, Growth.LeastBatches)))
    assert(early.exists(found => found.slope == 50 && found.isEarly))
    assert(Growth.of(rising).exists(!_.isEarly))
  }

  test("a window that fills up ever more slowly is no early alert, but one in the end") {
    val slowing = rising.map(i => Math.round(1e6 * (1 - Math.exp(-i / 10.0))))
    (1 until Growth.Batches).foreach(n => assert(Growth.of(slowing.take(n)).isEmpty, n))
    assert(Growth.of(slowing).isDefined)
    val faster = rising.map(i => i * i)
    assert(Growth.of(faster.take(21)).isDefined && Growth.of(faster.take(20)).isDefined)
    val filled = rising.take(30).map(Math.min(_, 18L))
    assert(Growth.of(filled).isEmpty)
  }

  test("a first burst does not hide steady growth") {
    val burst = rising.map(i => if (i < 4) i * 20 else 60 + i * 6)
    assert(Growth.of(burst.take(30)).isDefined)
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
