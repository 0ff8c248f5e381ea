package winops.spark.row

import org.scalatest.funsuite.AnyFunSuite

class MicrosSuite extends AnyFunSuite {
  test("instants beyond those of SQL are the farthest that there are") {
    val latest = Long.MaxValue / 1000
    assert(Micros.of(latest) == latest * 1000)
    assert(Micros.of(latest + 1) == Long.MaxValue)
    assert(Micros.of(Long.MaxValue) == Long.MaxValue)
    val earliest = Long.MinValue / 1000
    assert(Micros.of(earliest) == earliest * 1000)
    // The least microsecond lies within a millisecond that starts before it.
    assert(Micros.of(Math.floorDiv(Long.MinValue, 1000L)) == Long.MinValue)
    assert(Micros.of(Long.MinValue) == Long.MinValue)
    assert(Micros.of(-1) == -1000)
  }
}
