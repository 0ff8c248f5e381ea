package winops.storage.rows

import java.nio.ByteBuffer
import java.util.TreeMap

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import winops.storage.btree.{PageMemory, Pages}
import winops.storage.bytes.{ByteReader, ByteWriter, HeapSegments, ShiftedSegments}

class PatchedRowLogSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import PatchedRowLogSuite._

  test("rows are found until they are removed, with the values that they got last") {
    val shapes = Gen.zip(Gen.oneOf(5, 60, 700), Gen.oneOf(1, 9, 200))
    forAll(Gen.long, shapes, Gen.oneOf(true, false), minSuccessful(60)) {
      case (seed, (window, rowsOfBatch), fromFront) =>
        val random = new Random(seed)
        val driven = new Driven(random, pageBytes = random.nextInt(2) * 40000L)
        (0 until 40).foreach { _ =>
          (0 until rowsOfBatch).foreach { _ =>
            driven.append()
            random.nextInt(8) match {
              case 0 => driven.takeBack()
              case 1 if driven.size > 1 => driven.replaceAny()
              case _ =>
            }
            if (driven.size > window) driven.removeOne(fromFront && random.nextInt(9) > 0)
          }
          driven.compare()
          driven.restart()
        }
        driven.compare()
        while (driven.size > 0) driven.removeOne(fromFront = false)
        driven.compare()
        driven.append()
        driven.compare()
    }
  }

  test("the rows of a window of which the oldest never leaves take no more room") {
    val driven = new Driven(new Random(2))
    (0 until 20).foreach(_ => driven.append())
    (0 until 20000).foreach { i =>
      driven.append()
      driven.removeSecond()
      if (i % 100 == 0) driven.restart()
    }
    driven.compare()
    assert(driven.entries < 60)
  }
}

object PatchedRowLogSuite extends org.scalatest.Assertions {
  private final class Driven(random: Random, pageBytes: Long = PageMemory.DefaultBytes) {
    private val segments = new HeapSegments
    private val model = new TreeMap[Long, (Long, Int)]
    private var pages: Pages = _
    private var log: PatchedRowLog = _
    private var next = 0

    open()
    pages.clear()
    log.clear()

    def size: Long = log.size
    def entries: Long = segments.size.toLong

    def append(): Unit = {
      val ordinal = log.end
      val arrival = random.nextInt(1000).toLong
      model.put(ordinal, (arrival, write(arrival)))
    }

    def takeBack(): Unit = {
      log.takeBack()
      val _ = model.pollLastEntry()
    }

    def replaceAny(): Unit = {
      val keys = model.keySet.asScala.toVector.init
      val ordinal = keys(random.nextInt(keys.size))
      val newest = model.pollLastEntry().getValue
      model.put(ordinal, (model.get(ordinal)._1, newest._2))
      log.replace(ordinal)
    }

    def removeOne(fromFront: Boolean): Unit = {
      val keys = model.keySet.asScala.toVector
      val ordinal = if (fromFront) keys.head else keys(random.nextInt(keys.size))
      model.remove(ordinal)
      log.remove(ordinal)
    }

    def removeSecond(): Unit = {
      val ordinal = model.higherKey(model.firstKey)
      model.remove(ordinal)
      log.remove(ordinal)
    }

    def compare(): Unit = {
      assert(log.size == model.size)
      assert(log.first == (if (model.isEmpty) log.end else model.firstKey))
      var there = log.first
      val all = Vector.newBuilder[Long]
      while (there < log.end) {
        all += there
        there = log.next(there)
      }
      assert(all.result() == model.keySet.asScala.toVector)
      var back = log.previous(log.end)
      val reversed = Vector.newBuilder[Long]
      while (back >= 0) {
        reversed += back
        back = log.previous(back)
      }
      assert(reversed.result().reverse == all.result())
      model.forEach { (ordinal, row) =>
        assert(log.contains(ordinal))
        assert(log.arrival(ordinal) == row._1)
        log.find(ordinal)
        assert(ByteBuffer.wrap(log.rowBytes, log.rowPosition, log.rowLength).getInt == row._2)
        assert(log.rowLength == 4 + row._2 % 11)
      }
      (log.first until log.end).take(200).foreach { ordinal =>
        assert(log.contains(ordinal) == model.containsKey(ordinal))
      }
    }

    def restart(): Unit = {
      val out = new ByteWriter
      pages.save(out)
      log.save(out)
      open()
      val in = new ByteReader(out.toArray)
      pages.restore(in)
      log.restore(in)
      in.finish()
    }

    private def write(arrival: Long): Int = {
      val value = next
      next += 1
      val bytes = ByteBuffer.allocate(4 + value % 11).putInt(value).array
      val at = log.append(arrival, bytes.length)
      System.arraycopy(bytes, 0, log.target, at, bytes.length)
      value
    }

    private def open(): Unit = {
      pages = new Pages(new ShiftedSegments(segments, 1L << 60), new PageMemory(pageBytes))
      log = new PatchedRowLog(new RowLog(segments, withArrival = true), pages, withArrival = true)
    }
  }
}
