package winops.storage.buckets

import org.scalacheck.{Arbitrary, Gen}
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import winops.testing.TableTests

class LinearHashingSuite extends TableTests with ScalaCheckPropertyChecks {
  private val numbers = Gen.chooseNum(1L, 3000L)
  private val hashes =
    Gen.listOfN(50, Gen.oneOf(Arbitrary.arbitrary[Long], Gen.oneOf(0L, -1L, Long.MinValue)))

  /** The buckets of all hashes; bucket names differ in the first twelve bits. */
  private def all(hashing: LinearHashing): Seq[Long] =
    (0L until 4096L).map(first => hashing.bucketOf(first << 52)).distinct

  test("there are as many buckets as are asked for, in the order of their hashes") {
    forAll(numbers) { number =>
      val buckets = all(LinearHashing(number))
      assert(buckets.size == number)
      assert(buckets.head == 0)
      assert(buckets.zip(buckets.drop(1)).forall { case (a, b) =>
        java.lang.Long.compareUnsigned(a, b) < 0
      })
    }
  }

  test("a hash is in the last bucket that does not begin behind it") {
    forAll(numbers, hashes) { (number, hashes) =>
      val hashing = LinearHashing(number)
      hashes.foreach { hash =>
        val before = all(hashing).filter(java.lang.Long.compareUnsigned(_, hash) <= 0)
        assert(hashing.bucketOf(hash) == before.last)
      }
    }
  }

  test("more buckets divide some and leave the others what they are") {
    forAll(numbers, numbers, hashes) { (one, other, hashes) =>
      val fewer = LinearHashing(Math.min(one, other))
      val more = LinearHashing(Math.max(one, other))
      val divided = fewer.dividedIn(more).toVector
      val kept = all(fewer).filterNot(divided.contains).toSet
      assert(divided.forall(bucket => more.bucketOf(bucket) == bucket))
      assert(kept.subsetOf(all(more).toSet))
      hashes.filter(hash => kept(fewer.bucketOf(hash))).foreach { hash =>
        assert(more.bucketOf(hash) == fewer.bucketOf(hash))
      }
      assert(divided.size <= more.buckets - fewer.buckets)
    }
  }

  test("one bucket more divides one") {
    forAll(numbers) { number =>
      assert(LinearHashing(number).dividedIn(LinearHashing(number + 1)).size == 1)
    }
  }

  testEach("as many buckets as can be")(Long.MaxValue, 1L << 62, (1L << 62) - 1) { number =>
    val hashing = LinearHashing(number)
    Seq(0L, 1L, -1L, Long.MinValue).foreach { hash =>
      val bucket = hashing.bucketOf(hash)
      assert(hashing.bucketOf(bucket) == bucket)
      assert(java.lang.Long.compareUnsigned(bucket, hash) <= 0)
    }
  }
}
