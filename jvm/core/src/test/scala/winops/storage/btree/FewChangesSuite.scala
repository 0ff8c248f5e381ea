package winops.storage.btree

import scala.util.Random

import org.scalacheck.Gen
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import winops.testing.TableTests

/** Maps of which few entries change before they are stored again. */
class FewChangesSuite extends TableTests with ScalaCheckPropertyChecks {
  import PagedMapSuite._

  testEach(
    "it does what a sorted map does, if few entries change before it is stored again",
    short = 2)(1, 6, 40) { changes =>
    forAll(
      Gen.long,
      Gen.oneOf(60, 700, 9000),
      Gen.oneOf(named, dense, ranked),
      minSuccessful(20)) { (seed, keys, keyOf) =>
      val random = new Random(seed)
      val driven = new Driven
      def value: Array[Byte] =
        random.nextBytes(if (random.nextInt(3) == 0) random.nextInt(60) else 8)
      (0 until keys / 2).foreach(_ => driven.put(keyOf(random.nextInt(keys)), value))
      (0 until 300).foreach { round =>
        driven.restart(isReused = random.nextInt(5) == 0)
        (0 until changes).foreach { _ =>
          val key = keyOf(random.nextInt(keys))
          random.nextInt(8) match {
            case 0 | 1 | 2 => driven.put(key, value)
            case 3 | 4 => driven.remove(key)
            case 5 => driven.append(value)
            case 6 => driven.removeAtLeast(key, unloads = random.nextInt(10) == 0)
            case _ => driven.compareAround(key)
          }
        }
        // Now and then most pages change, which are then large again.
        if (round % 100 == 99) (0 until keys).foreach(i => driven.put(keyOf(i), value))
      }
      driven.compareAll()
      driven.restart()
      driven.compareAll()
      driven.removeAll()
    }
  }

  test("pages are small while few entries change, and large again when many do") {
    val driven = new Driven
    (0 until 5000).foreach(i => driven.put(ordinal(2 * i), Array.emptyByteArray))
    driven.restart()
    val large = driven.segments.count
    (0 until 2000).foreach { i =>
      driven.put(ordinal(2 * (i * 7 % 5000) + 1), Array.emptyByteArray)
      driven.remove(ordinal(2 * (i * 7 % 5000) + 1))
      driven.restart()
    }
    assert(driven.segments.count >= 2 * large)
    (0 until 2).foreach { _ =>
      (0 until 5000).foreach(i => driven.remove(ordinal(2 * i)))
      (0 until 5000).foreach(i => driven.put(ordinal(2 * i), Array.emptyByteArray))
      driven.restart()
    }
    assert(driven.segments.count <= large + 2)
    driven.compareAll()
  }

  test("few entries of a large map cost few bytes") {
    val driven = new Driven
    val random = new Random(3)
    random.shuffle((0 until 10000).toVector).foreach(i => driven.put(ordinal(i), new Array(8)))
    (0 until 1000).foreach(_ => changeAny())
    driven.restart()
    driven.segments.bytesWritten = 0L
    (0 until 1000).foreach(_ => changeAny())
    // Measured: 110 bytes a change.
    assert(driven.segments.bytesWritten <= 1000 * 130)

    def changeAny(): Unit = {
      driven.restart()
      driven.put(ordinal(random.nextInt(10000)), random.nextBytes(8))
    }
  }
}
