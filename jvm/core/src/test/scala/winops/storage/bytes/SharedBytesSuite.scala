package winops.storage.bytes

import java.util.Arrays

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class SharedBytesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val bytes: Gen[Array[Byte]] =
    Gen.choose(0, 20).flatMap(Gen.listOfN(_, Gen.oneOf(Seq[Byte](0, 1, -1)))).map(_.toArray)

  test(
    "keys compare by what they share, by what follows that, and by the rest, as by all of it") {
    forAll(bytes, bytes, bytes, minSuccessful(2000)) { (front, one, other) =>
      val shared = new SharedBytes(front, 0, front.length)
      val (key, otherKey) = (front ++ one, front ++ other)
      val prefixes = java.lang.Long
        .compare(shared.prefix(key, 0, key.length), shared.prefix(otherKey, 0, otherKey.length))
      val order =
        if (prefixes != 0) prefixes else shared.compareRest(key, 0, key.length, otherKey)
      assert(Integer.signum(order) == Integer.signum(Arrays.compareUnsigned(one, other)))
    }
  }

  test("a key compares with what others share as its beginning does") {
    forAll(bytes, bytes, minSuccessful(2000)) { (front, key) =>
      val shared = new SharedBytes(front, 0, front.length)
      val order = Arrays.compareUnsigned(key.take(front.length), front)
      assert(Integer.signum(shared.compare(key)) == Integer.signum(order))
      assert(shared.beginsWithThem(key, 0, key.length) == key.startsWith(front))
    }
  }

  test("a key is read where it is among others") {
    forAll(bytes, bytes, Gen.choose(0, 12)) { (front, rest, at) =>
      val key = front ++ rest
      val others = Array.fill[Byte](at)(7) ++ key ++ Array.fill[Byte](12)(7)
      val shared = new SharedBytes(others, at, front.length)
      assert(shared.beginsWithThem(others, at, key.length))
      assert(shared.prefix(others, at, key.length) == shared.prefix(key, 0, key.length))
      assert(shared.compareRest(others, at, key.length, key) == 0)
    }
  }
}
