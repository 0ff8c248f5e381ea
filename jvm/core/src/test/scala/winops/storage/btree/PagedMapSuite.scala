package winops.storage.btree

import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Arrays, Comparator, TreeMap}

import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.duration.DurationInt
import scala.util.Random

import org.scalacheck.Gen
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, Segments}
import winops.testing.TableTests

class PagedMapSuite extends TableTests with ScalaCheckPropertyChecks {
  import PagedMapSuite._

  test("it does what a sorted map does, wherever it is stored and taken up again") {
    forAll(
      Gen.long,
      Gen.oneOf(5, 60, 700, 9000),
      Gen.oneOf(named, dense, ranked),
      minSuccessful(90)) { (seed, keys, keyOf) =>
      val random = new Random(seed)
      val driven = new Driven(random.nextInt(3) match {
        case 0 => 0L
        case 1 => random.nextInt(200000).toLong
        case _ => PageMemory.DefaultBytes
      })
      (0 until 3000).foreach { _ =>
        if (random.nextInt(200) == 0) driven.restart()
        if (random.nextInt(50) == 0) driven.unload()
        val key = keyOf(random.nextInt(keys))
        random.nextInt(12) match {
          case 10 => driven.append(new Array[Byte](random.nextInt(60)))
          case 11 => driven.removeAtLeast(key, unloads = random.nextInt(10) == 0)
          case 0 | 1 | 2 | 3 | 4 => driven.put(key, new Array[Byte](random.nextInt(60)))
          case 5 | 6 | 7 => driven.remove(key)
          case _ => driven.compareAround(key)
        }
      }
      driven.compareAll()
      driven.removeAll()
    }
  }

  testEach("headers of maps that cannot be are refused")(
    Seq(0L, 1L, Page.Inline),
    Seq(0L, 0L, 1L),
    Seq(0L, -2L - Page.MaxEntries),
    Seq(0L, -2L)) { numbers =>
    val out = new ByteWriter
    numbers.foreach(out.number)
    val pages = new Pages(new CountedSegments)
    val map = pages.newMap()
    val in = new ByteReader(out.toArray)
    pages.restore(in)
    intercept[CorruptStateException](map.restore(in))
  }

  test("keys that come in order fill their pages, and those that leave in order free them") {
    val driven = new Driven
    (0 until 20000).foreach(i => driven.put(ordinal(i), Array.emptyByteArray))
    driven.restart()
    // Leaves of 128 keys and their inner pages. Measured: 80 pages.
    assert(driven.segments.count < 20000 / 128 + 20000 / 128 / 100 + 4)
    (0 until 20000).foreach(i => driven.remove(ordinal(i)))
    driven.restart()
    assert(driven.segments.count == 0)
  }

  test("a small map is stored with its group") {
    val driven = new Driven
    (0 until 100).foreach(i => driven.put(ordinal(i), Array.emptyByteArray))
    driven.restart()
    assert(driven.segments.count == 0)
    (100 until 1000).foreach(i => driven.put(ordinal(i), Array.emptyByteArray))
    driven.restart()
    assert(driven.segments.count > 0)
    (50 until 1000).foreach(i => driven.remove(ordinal(i)))
    driven.restart()
    assert(driven.segments.count == 0)
    driven.compareAll()
  }

  test("a change touches a few pages however large the map is") {
    val driven = new Driven
    val random = new Random(3)
    random.shuffle((0 until 100000).toVector).foreach { i =>
      driven.put(ordinal(i), Array.emptyByteArray)
    }
    driven.restart()
    driven.segments.calls = 0
    driven.put(ordinal(100001), Array.emptyByteArray)
    driven.remove(ordinal(5))
    driven.restart()
    // Measured: 7. Each of the two changes may touch as many.
    assert(driven.segments.calls <= 14)
  }

  test("the least keys come to where the first page was freed") {
    val driven = new Driven
    (1000 until 2000).foreach(i => driven.put(ordinal(i), Array.emptyByteArray))
    (1000 until 1256).foreach(i => driven.remove(ordinal(i)))
    (1 until 600).foreach(i => driven.put(ordinal(i), Array.emptyByteArray))
    driven.restart()
    driven.compareAll()
    driven.removeAll()
  }

  test("values of any size are kept") {
    val driven = new Driven
    Seq(0, 10000000, 1, 5000, 4095, 4096, 4097, 300000).zipWithIndex.foreach { case (length, i) =>
      driven.put(ordinal(i), Array.fill(length)(i.toByte))
    }
    driven.restart()
    driven.compareAll()
    driven.removeAll()
  }

  test("a map with long keys is not deep") {
    val driven = new Driven
    def long(i: Int): Array[Byte] = new Array[Byte](5000) ++ ordinal(i)
    (0 until 300).foreach(i => driven.put(long(i * 77 % 300), Array.emptyByteArray))
    (0 until 50).foreach { i =>
      driven.restart()
      driven.put(long(1000 + i), Array.emptyByteArray)
    }
    driven.compareAll()
    driven.removeAll()
  }

  test("a map of pages is stored again though it was not looked at") {
    val driven = new Driven
    (0 until 5000).foreach(i => driven.put(ordinal(i), Array.emptyByteArray))
    driven.restart()
    driven.restart()
    driven.compareAll()
  }

  test("a group that is forgotten leaves no page behind, and the next begins empty") {
    val driven = new Driven
    (0 until 5000).foreach(i => driven.put(ordinal(i), Array.emptyByteArray))
    driven.restart()
    driven.discard()
    assert(driven.segments.count == 0)
    (0 until 500).foreach(i => driven.put(ordinal(i), Array.emptyByteArray))
    driven.restart()
    driven.compareAll()
  }

  test("a map that is emptied frees its pages, and may be filled again") {
    val driven = new Driven
    (0 until 5000).foreach(i => driven.put(ordinal(i), Array.emptyByteArray))
    driven.restart()
    driven.clear()
    (0 until 10).foreach(i => driven.put(ordinal(i), Array.emptyByteArray))
    driven.restart()
    assert(driven.segments.count == 0)
    driven.compareAll()
  }

  test("pages and changes that were changed or cut off are refused, or read as something else") {
    val random = new Random(11)
    val outcomes = withinAMinute {
      Seq.fill(400) {
        val driven = new Driven
        (0 until 600).foreach(i => driven.put(ordinal(i), new Array[Byte](i % 9)))
        (0 until random.nextInt(20)).foreach { _ =>
          driven.restart()
          driven.put(ordinal(random.nextInt(600)), new Array[Byte](5))
          driven.remove(ordinal(random.nextInt(600)))
        }
        driven.restart()
        driven.segments.damage(random)
        try {
          (0 until 600 by 7).foreach { i =>
            val _ = driven.map.get(ordinal(i))
          }
          var there = driven.map.first()
          var seen = 0
          while (there && seen < 2000) {
            there = driven.map.next()
            seen += 1
          }
          (0 until 600 by 3).foreach(i => driven.map.remove(ordinal(i)))
          driven.map.put(ordinal(700), Array.emptyByteArray)
          true
        } catch {
          case _: CorruptStateException => false
        }
      }
    }
    assert(outcomes.contains(true))
    assert(outcomes.contains(false))
  }

  private def withinAMinute[T](body: => T): T =
    Await.result(Future(body)(ExecutionContext.global), 1.minute)
}

private object PagedMapSuite extends org.scalatest.Assertions {
  def ordinal(number: Int): Array[Byte] =
    java.nio.ByteBuffer.allocate(8).putLong(number.toLong).array

  val named: Int => Array[Byte] = number => s"key $number".getBytes(UTF_8)

  /** Keys of the bytes 0, 1 and 255; some keys are prefixes of others. */
  val dense: Int => Array[Byte] = number =>
    Iterator
      .iterate(number)(_ / 4)
      .map(_ % 4)
      .takeWhile(_ > 0)
      .map(digit => Digits(digit - 1))
      .toArray

  /** Keys of which many share a prefix, such as rows of the same price. */
  val ranked: Int => Array[Byte] = number => ordinal(number % 3) ++ ordinal(number)

  private val Digits = Array[Byte](0, 1, -1)

  final class CountedSegments extends Segments {
    private val kept = scala.collection.mutable.LongMap.empty[Array[Byte]]
    var calls = 0
    var bytesWritten = 0L

    def count: Int = kept.size

    override def get(number: Long): Array[Byte] = {
      calls += 1
      kept.getOrNull(number)
    }

    override def put(number: Long, bytes: Array[Byte]): Unit = {
      calls += 1
      bytesWritten += bytes.length
      kept.update(number, bytes)
    }

    override def remove(number: Long): Unit = {
      calls += 1
      assert(kept.contains(number))
      kept.remove(number)
    }

    def damage(random: Random): Unit = {
      val number = kept.keys.toVector(random.nextInt(kept.size))
      val bytes = kept(number).clone
      if (random.nextBoolean())
        kept.update(number, Arrays.copyOf(bytes, random.nextInt(bytes.length)))
      else {
        val place =
          if (random.nextBoolean()) random.nextInt(bytes.length)
          else random.nextInt(Math.min(bytes.length, 9))
        bytes(place) = (bytes(place) ^ (1 << random.nextInt(8))).toByte
        kept.update(number, bytes)
      }
    }
  }

  /** A map with a sorted map of the JDK as its reference. */
  final class Driven(limit: Long = PageMemory.DefaultBytes) {
    val segments = new CountedSegments
    private val model = new TreeMap[Array[Byte], Array[Byte]](new Comparator[Array[Byte]] {
      override def compare(a: Array[Byte], b: Array[Byte]): Int = Arrays.compareUnsigned(a, b)
    })
    private var pages = new Pages(segments, new PageMemory(limit))
    var map: PagedMap = pages.newMap()

    def put(key: Array[Byte], value: Array[Byte]): Unit = {
      assertSame(map.put(key, value), model.put(key, value))
      assert(map.size == model.size)
    }

    def remove(key: Array[Byte]): Unit = assert(map.remove(key) == (model.remove(key) != null))

    /** Puts a value under the key that follows the last one. */
    def append(value: Array[Byte]): Unit = {
      val key = if (model.isEmpty) Array.emptyByteArray else model.lastKey :+ 0.toByte
      map.append(key, value.length)
      System.arraycopy(value, 0, map.valueBytes, map.valueAt, value.length)
      model.put(key, value)
      assertSame(map.key, key)
      assertSame(map.value, value)
    }

    /** Forgets the loaded pages. */
    def unload(): Unit = pages.unload()

    /** Removes the first entry at or after a key. */
    def removeAtLeast(key: Array[Byte], unloads: Boolean): Unit = {
      val there = model.ceilingKey(key)
      assertAt(map.atLeast(key), there)
      if (there != null) {
        if (unloads) unload()
        map.remove()
        model.remove(there)
        assert(map.size == model.size)
      }
    }

    def clear(): Unit = {
      map.clear()
      model.clear()
    }

    /** Deletes the group's pages and starts a group without pages. */
    def discard(): Unit = {
      pages.discard()
      pages.clear()
      model.clear()
    }

    /** Stores the map and restores it in new objects, or reuses its objects. */
    def restart(isReused: Boolean = false): Unit = {
      val out = new ByteWriter
      pages.save(out)
      map.save(out)
      val in = new ByteReader(out.toArray)
      if (!isReused) {
        pages = new Pages(segments, new PageMemory(limit))
        map = pages.newMap()
      }
      pages.restore(in)
      map.restore(in)
      in.finish()
    }

    def compareAround(key: Array[Byte]): Unit = {
      assert(map.contains(key) == model.containsKey(key))
      assertSame(map.get(key), model.get(key))
      assertAt(map.atLeast(key), model.ceilingKey(key))
      assertAt(map.below(key), model.lowerKey(key))
      assertAt(map.above(key), model.higherKey(key))
      assertAt(map.first(), if (model.isEmpty) null else model.firstKey)
      assertAt(map.last(), if (model.isEmpty) null else model.lastKey)
    }

    def compareAll(): Unit = {
      val keys = model.keySet.toArray(Array.empty[Array[Byte]])
      var there = map.first()
      keys.zipWithIndex.foreach { case (key, i) =>
        assert(there)
        assertSame(map.key, key)
        if (i % 50 == 0) unload()
        assertSame(map.value, model.get(key))
        there = map.next()
      }
      assert(!there)
      there = map.last()
      keys.reverse.foreach { key =>
        assert(there)
        assertSame(map.key, key)
        there = map.previous()
      }
      assert(!there)
    }

    def removeAll(): Unit = {
      model.keySet.toArray(Array.empty[Array[Byte]]).foreach(remove)
      assert(map.size == 0)
      restart()
      assert(segments.count == 0)
    }

    private def assertAt(there: Boolean, key: Array[Byte]): Unit = {
      assert(there == (key != null))
      if (there) assertSame(map.key, key)
    }

    private def assertSame(left: Array[Byte], right: Array[Byte]): Unit =
      assert(Arrays.equals(left, right))
  }
}
