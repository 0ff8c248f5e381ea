package winops.storage.buckets

import scala.collection.mutable

import org.scalacheck.{Arbitrary, Gen}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}

class BucketSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val keys: Gen[Array[Byte]] =
    Gen.chooseNum(0, 40).map(number => s"key $number".getBytes.take(number))
  private val values: Gen[Array[Byte]] = Arbitrary.arbitrary[Array[Byte]]
  private val puts = Gen.listOf(Gen.zip(keys, Gen.option(values)))

  test("a bucket is a map, also after it was stored") {
    forAll(puts, puts) { (before, after) =>
      val expected = mutable.LinkedHashMap.empty[Seq[Byte], Seq[Byte]]
      val bucket = new Bucket
      before.foreach(change(bucket, expected, _))
      val restored = new Bucket
      restored.put("something else".getBytes, Array(1))
      restored.restore(new ByteReader(saved(bucket)))
      after.foreach(change(restored, expected, _))
      assert(contentOf(restored) == expected.toMap)
      assert(restored.size == expected.size)
      assert(restored.isEmpty == expected.isEmpty)
    }
  }

  test("a key is the bucket's own") {
    val key = "one".getBytes
    val bucket = new Bucket
    assert(bucket.put(key, Array(1)))
    key(0) = 'x'
    assert(bucket.get("one".getBytes).toSeq == Seq(1))
    assert(bucket.get(key) == null)
    assertThrows[NoSuchElementException](bucket.remove(key))
  }

  test("a key of numbers takes little room") {
    val key = new Array[Byte](24)
    key(8) = 5
    key(16) = 7
    val bucket = new Bucket
    bucket.put(key, Array(1))
    // The number of entries, the key with its length, and the value with its length.
    assert(saved(bucket).length == 1 + 1 + 2 + 2 + 2)
  }

  test("damaged bytes are refused, or are another bucket") {
    val bucket = new Bucket
    (0 until 20).foreach(i => bucket.put(s"key $i".getBytes, new Array[Byte](i)))
    val whole = saved(bucket)
    val outcomes = for (at <- whole.indices; value <- Seq(0, 1, 2, 127, 128, 255)) yield {
      val bytes = whole.clone()
      bytes(at) = value.toByte
      isRefused(bytes)
    }
    assert(outcomes.toSet == Set(true, false))
    assert(whole.indices.forall(length => isRefused(whole.take(length))))
    assert(isRefused(whole :+ 0.toByte))
  }

  private def isRefused(bytes: Array[Byte]): Boolean =
    try {
      new Bucket().restore(new ByteReader(bytes))
      false
    } catch { case _: CorruptStateException => true }

  private def change(
      bucket: Bucket,
      expected: mutable.Map[Seq[Byte], Seq[Byte]],
      change: (Array[Byte], Option[Array[Byte]])): Unit = {
    val (key, value) = change
    val known = expected.get(key.toSeq)
    assert(Option(bucket.get(key)).map(_.toSeq) == known)
    value match {
      case Some(bytes) =>
        assert(bucket.put(key, bytes) == known.isEmpty)
        expected(key.toSeq) = bytes.toSeq
      case None if known.isDefined =>
        bucket.remove(key)
        expected -= key.toSeq
      case None =>
    }
  }

  private def saved(bucket: Bucket): Array[Byte] = {
    val out = new ByteWriter
    bucket.save(out)
    out.toArray
  }

  private def contentOf(bucket: Bucket): Map[Seq[Byte], Seq[Byte]] = {
    val content = mutable.Map.empty[Seq[Byte], Seq[Byte]]
    bucket.foreach((key, value) => content(key.toSeq) = value.toSeq)
    content.toMap
  }
}
