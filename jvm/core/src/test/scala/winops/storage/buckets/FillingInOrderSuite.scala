package winops.storage.buckets

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class FillingInOrderSuite extends AnyFunSuite {

  private def hashes(number: Int): Seq[Long] = {
    val random = new Random(3)
    Seq.fill(number)(random.nextLong()).sortBy(_ ^ Long.MinValue)
  }

  private def after(hashes: Seq[Long], isEmpty: Boolean = true): Double = {
    val filling = new FillingInOrder(isEmpty)
    hashes.foreach(filling.reach)
    filling.factor(hashes.size.toLong)
  }

  private val sorted = hashes(10000)

  Seq(300, 1000, 5000, 10000).foreach { come =>
    test(s"all groups are expected after $come of 10,000") {
      val expected = after(sorted.take(come)) * come
      // The standard deviation is 10,000 / sqrt(come). Measured: 9,461 to 10,001.
      assert(Math.abs(expected - 10000) < 4 * 10000 / Math.sqrt(come.toDouble), expected)
    }
  }

  test("nothing is expected of few groups") { assert(after(sorted.take(255)) == 1.0) }

  test("nothing is expected of groups in another order") {
    assert(after(sorted.take(1000).reverse) == 1.0)
    assert(after(sorted.slice(500, 1000) ++ sorted.take(500)) == 1.0)
  }

  test("nothing is expected of a partition that had groups") {
    assert(after(sorted.take(1000), isEmpty = false) == 1.0)
  }

  test("a group may be visited twice") {
    assert(after(sorted.take(1000).flatMap(hash => Seq(hash, hash))) > 5.0)
  }

  test("groups with small hashes do not make the factor infinite") {
    assert(after(Seq.fill(1000)(0L)) == 4096.0)
  }
}
