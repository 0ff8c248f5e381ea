package winops.storage.bytes

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class SegmentedBitsSuite extends AnyFunSuite {

  test("numbers are found in any order, and few segments are on the heap") {
    val random = new Random(1)
    val segments = new HeapSegments
    val bits = new SegmentedBits(segments, mostLoaded = 4)
    val expected = mutable.Set.empty[Long]
    (0 until 20000).foreach { _ =>
      val number = random.nextLong(1000000)
      val isIn = random.nextInt(3) > 0
      bits(number) = isIn
      if (isIn) expected += number else expected -= number
      assert(bits.loadedBytes <= 4 * 1024)
    }
    assert(segments.size > 100)
    (0L until 1000000L).foreach(number => assert(bits.contains(number) == expected(number)))
  }

  test("after all numbers are removed, the store has no segments") {
    val segments = new HeapSegments
    val bits = new SegmentedBits(segments, mostLoaded = 2)
    (0L until 100000L by 1000).foreach(number => bits(number) = true)
    bits.clear()
    assert(segments.size == 0)
    assert(!(0L until 100000L).exists(bits.contains))
  }
}
