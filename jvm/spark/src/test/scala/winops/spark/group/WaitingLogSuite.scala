package winops.spark.group

import scala.collection.mutable
import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{RowOrdering, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.plan.Application
import winops.spark.testing.{KeepPlans, MapSegments}
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, Segments}

class WaitingLogSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import WaitingLogSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 200)

  test("rows are released in order of their times, and equal ones in order of arrival") {
    forAll(Gen.choose(1, 60), Gen.choose(0, 40), Gen.oneOf(true, false), Gen.long) {
      (batches, disorder, hasFarRow, seed) =>
        val checked = new Checked(seed)
        if (hasFarRow) checked.append(1000000L)
        (0 until batches).foreach(checked.batch(_, disorder))
        checked.release(End)
        assert(checked.log.size == 0)
        assert(checked.segments.numbers.isEmpty)
    }
  }

  test("a row in the far future does not keep released rows for ever") {
    val checked = new Checked(3)
    checked.append(1000000L)
    (0 until 2000).foreach(checked.batch(_, 10))
    assert(checked.segments.numbers.size < 100)
  }

  test("each of many rows out of order is written about three times") {
    val checked = new Checked(5)
    (0 until 400).foreach(checked.batchOfOne(_, 360))
    checked.written = 0
    (400 until 2400).foreach(checked.batchOfOne(_, 360))
    val perRow = checked.written.toDouble / 2000
    assert(perRow < 100, s"$perRow bytes written per row")
  }

  test("logs that cannot be are refused") {
    val places = Seq(Seq(-1), Seq(4, -1, 0, 0), Seq(3, 1, -1, 0, 0), Seq(1, -1, 0, 0))
    places.foreach { stored =>
      val out = new ByteWriter
      stored.tail.foreach(n => out.number(n.toLong))
      val log = new WaitingLog(Plan, new MapSegments)
      withClue(stored) {
        intercept[CorruptStateException] {
          log.restore(new ByteReader(out.toArray), stored.head, Clock)
        }
      }
    }
  }
}

private object WaitingLogSuite {
  private val Clock = 5L

  /** A time after all rows, in milliseconds. */
  private val End = 10000000L
  private val Plan = KeepPlans.plan(
    KeepPlans.spec("KEEP 3 ROWS", application = Some(Application.EventTime)),
    order = Nil)
  private val order = RowOrdering.create(Plan.waitingOrder, Plan.waitingColumns)
  private val toRow =
    UnsafeProjection.create(Plan.waitingColumns.map(_.dataType).toArray[DataType])

  /** A log and the times and numbers of the rows that it should have. */
  final class Checked(seed: Long) {
    val segments = new MapSegments
    var written = 0
    private val counted = new Segments {
      override def get(number: Long): Array[Byte] = segments.get(number)
      override def remove(number: Long): Unit = segments.remove(number)
      override def put(number: Long, bytes: Array[Byte]): Unit = {
        written += bytes.length
        segments.put(number, bytes)
      }
    }
    private val random = new Random(seed)
    private var expected = mutable.ArrayBuffer.empty[(Long, Long)]
    private var numbers = 0L
    private var released = Long.MinValue
    var log = new WaitingLog(Plan, counted)
    log.clear()

    /** Releases rows, adds up to five rows not before the watermark, and restores the log. */
    def batch(number: Int, disorder: Int): Unit = {
      if (random.nextInt(3) > 0) release(number.toLong)
      (0 until random.nextInt(6)).foreach { _ =>
        append(Math.max(released, number.toLong) + random.nextInt(disorder + 1))
      }
      saveAndRestore()
    }

    def batchOfOne(number: Int, disorder: Int): Unit = {
      release(number.toLong)
      append(number.toLong + random.nextInt(disorder))
      saveAndRestore()
    }

    def append(millis: Long): Unit = {
      val time = millis * 1000 + random.nextInt(1000)
      log.append(rowOf(time, numbers), order)
      expected += time -> numbers
      numbers += 1
      check()
    }

    def release(millis: Long): Unit = {
      val before = millis * 1000
      val (due, staying) = expected.partition(row => row._1 < before)
      expected = staying
      val rows = log.release(before, order)
      val found = mutable.ArrayBuffer.empty[(Long, Long)]
      while (rows.first != null) {
        found += rows.first.getLong(1) -> rows.first.getLong(2)
        rows.take()
        // A row that was taken is in the window, and is not counted twice against max_rows.
        demand(log.size == staying.size + due.size - found.size)
      }
      rows.finish()
      released = millis
      demand(found == due.sortBy(_._1))
      check()
    }

    private def saveAndRestore(): Unit = {
      val out = new ByteWriter
      val kind = log.kind
      log.save(out, Clock)
      written += out.toArray.length
      if (random.nextBoolean()) log = new WaitingLog(Plan, counted)
      val in = new ByteReader(out.toArray)
      log.restore(in, kind, Clock)
      demand(in.remaining == 0)
      check()
    }

    private def check(): Unit = {
      demand(log.size == expected.size)
      val first = expected.map(_._1).minOption.getOrElse(Long.MaxValue)
      demand(log.firstTime == first || log.firstTime == Math.floorDiv(first, 1000L) * 1000)
      val last = expected.map(row => Math.floorDiv(row._1, 1000L)).maxOption
      demand(log.lastTime == last.getOrElse(Long.MinValue))
      val row = new UnsafeRow(Plan.waitingColumns.size)
      val found = log.ordinals.map { ordinal =>
        log.pointTo(row, ordinal)
        row.getLong(2)
      }.toSet
      demand(found == expected.map(_._2).toSet)
    }

    private def demand(holds: Boolean): Unit =
      if (!holds) throw new AssertionError("the log has other rows")

    private def rowOf(time: Long, number: Long): UnsafeRow =
      toRow(InternalRow(7L, time, number, UTF8String.fromString("text"))).copy()
  }
}
