package winops.storage.rows

import java.nio.ByteBuffer
import java.util.TreeMap

import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import winops.storage.btree.{PageMemory, Pages}
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, HeapSegments, Segments}

class RowTreeSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import RowTreeSuite._

  test("rows are found until they are removed, however often they are stored") {
    forAll(Gen.long, Gen.oneOf(10, 100, 1500), Gen.oneOf(1, 4, 300), minSuccessful(40)) {
      (seed, window, rowsOfBatch) =>
        val random = new Random(seed)
        val driven = new Driven(random, pageBytes = random.nextInt(2) * 40000L)
        (0 until window).foreach(_ => driven.append())
        (0 until 60).foreach { _ =>
          driven.restart()
          (0 until rowsOfBatch).foreach { _ =>
            driven.append()
            if (random.nextInt(10) == 0) driven.takeBack()
            if (driven.size > window) driven.removeAny()
          }
          driven.compare()
        }
        driven.compareAll()
        driven.removeAll()
    }
  }

  test("a row of a long tree costs a small part of a page") {
    val driven = new Driven(new Random(1))
    (0 until 10000).foreach(_ => driven.append())
    driven.restart()
    val (rest, before) = (driven.storedBytes, driven.writtenBytes)
    (0 until 5000).foreach { _ =>
      driven.append()
      driven.removeAny()
      driven.restart()
    }
    // Measured: 276 bytes a change.
    assert(driven.writtenBytes - before <= 5000 * 300)
    assert(driven.storedBytes <= rest * 1.2)
  }

  test("pages and changes that were changed or cut off are refused, or read as other rows") {
    val random = new Random(7)
    val outcomes = Seq.fill(300) {
      val driven = new Driven(random)
      (0 until 300).foreach(_ => driven.append())
      (0 until 30).foreach { _ =>
        driven.restart()
        driven.append()
        driven.removeAny()
      }
      driven.restart()
      driven.damage()
      try {
        driven.readAll()
        true
      } catch {
        case _: CorruptStateException => false
      }
    }
    assert(outcomes.contains(true))
    assert(outcomes.contains(false))
  }
}

private object RowTreeSuite extends org.scalatest.Assertions {

  /** Segments that count the bytes that are written. */
  private final class CountedSegments(stored: HeapSegments) extends Segments {
    private val numbers = scala.collection.mutable.TreeSet.empty[Long]
    var written = 0L

    def bytes: Long = numbers.iterator.map(stored.get(_).length.toLong).sum
    def isEmpty: Boolean = stored.size == 0

    override def get(number: Long): Array[Byte] = stored.get(number)
    override def put(number: Long, bytes: Array[Byte]): Unit = {
      written += bytes.length
      numbers += number
      stored.put(number, bytes)
    }
    override def remove(number: Long): Unit = {
      assert(numbers.remove(number))
      stored.remove(number)
    }

    def damage(random: Random): Unit = {
      val number = numbers.toVector(random.nextInt(numbers.size))
      val bytes = stored.get(number).clone
      if (random.nextBoolean()) stored.put(number, bytes.take(random.nextInt(bytes.length)))
      else {
        val place = random.nextInt(bytes.length)
        bytes(place) = (bytes(place) ^ (1 << random.nextInt(8))).toByte
        stored.put(number, bytes)
      }
    }
  }

  /** A tree of rows with a sorted map of the JDK as its reference. */
  private final class Driven(random: Random, pageBytes: Long = PageMemory.DefaultBytes) {
    private val segments = new CountedSegments(new HeapSegments)
    private val model = new TreeMap[Long, Array[Byte]]
    private var pages = new Pages(segments, new PageMemory(pageBytes))
    private var tree = new RowTree(pages, withArrival = true)
    pages.clear()
    tree.clear()

    def size: Long = tree.size
    def storedBytes: Long = segments.bytes
    def writtenBytes: Long = segments.written

    def append(): Unit = {
      val row = ByteBuffer.allocate(48).putLong(tree.end).putLong(random.nextLong()).array
      val bytes = row.take(if (random.nextInt(4) == 0) random.nextInt(48) else 48)
      val ordinal = tree.end
      val at = tree.append(ordinal + 1000, bytes.length)
      System.arraycopy(bytes, 0, tree.target, at, bytes.length)
      model.put(ordinal, bytes)
    }

    def takeBack(): Unit = {
      tree.takeBack()
      model.remove(tree.end)
    }

    def removeAny(): Unit = {
      val any = Math.floorMod(random.nextLong(), tree.end)
      val ordinal = if (any > model.lastKey) model.firstKey else model.ceilingKey(any)
      tree.remove(ordinal)
      model.remove(ordinal)
    }

    def removeAll(): Unit = {
      tree.release(tree.end)
      model.clear()
      restart()
      assert(segments.isEmpty)
    }

    /** Stores the rows and restores them in new objects. */
    def restart(): Unit = {
      val out = new ByteWriter
      pages.save(out)
      tree.save(out)
      pages = new Pages(segments, new PageMemory(pageBytes))
      tree = new RowTree(pages, withArrival = true)
      val in = new ByteReader(out.toArray)
      pages.restore(in)
      tree.restore(in)
      in.finish()
    }

    def compare(): Unit = {
      assert(tree.size == model.size)
      assert(tree.first == model.firstKey)
      val ordinal = model.lastKey
      assert(tree.previous(tree.end) == ordinal)
      compareAt(ordinal)
    }

    def compareAll(): Unit = {
      var ordinal = tree.first
      model.forEach { (number, _) =>
        assert(ordinal == number)
        compareAt(number)
        ordinal = tree.next(ordinal)
      }
      assert(ordinal == tree.end)
    }

    def damage(): Unit = segments.damage(random)

    def readAll(): Unit = {
      var ordinal = tree.first
      while (ordinal < tree.end) {
        tree.find(ordinal)
        ordinal = tree.next(ordinal)
      }
    }

    private def compareAt(ordinal: Long): Unit = {
      assert(tree.arrival(ordinal) == ordinal + 1000)
      tree.find(ordinal)
      val at = tree.rowPosition
      assert(tree.rowBytes.slice(at, at + tree.rowLength).sameElements(model.get(ordinal)))
    }
  }
}
