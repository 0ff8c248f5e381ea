package winops.spark.group

import scala.collection.mutable
import scala.util.Random

import org.scalacheck.Gen
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{RowOrdering, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.plan.Application
import winops.spark.testing.{KeepPlans, MapSegments}
import winops.testing.Longer
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, Segments}
import winops.testing.TableTests

class WaitingLogSuite extends TableTests with ScalaCheckPropertyChecks {
  import WaitingLogSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 200)

  test("rows are released in order of their times, and equal ones in order of arrival") {
    val rowsOfBatch = Gen.oneOf(5, 30)
    forAll(Gen.choose(1, 60), Gen.choose(0, 40), rowsOfBatch, Gen.oneOf(4, 16, 512), Gen.long) {
      (batches, disorder, rows, mostUnsorted, seed) =>
        val checked = new Checked(seed, mostUnsorted)
        if (seed % 2 == 0) checked.append(FarAhead)
        (0 until batches).foreach(checked.batch(_, disorder, rows))
        checked.release(End)
        assert(checked.log.size == 0)
        assert(checked.segments.numbers.isEmpty)
    }
  }

  test("of few rows out of order, those that are due are found in a schedule") {
    val delays = Gen.oneOf(150, 250)
    forAll(delays, Gen.choose(1, 3), Gen.oneOf(128, 512), Gen.long, minSuccessful(10)) {
      (delay, rows, mostUnsorted, seed) =>
        val checked = new Checked(seed, mostUnsorted)
        if (seed % 4 == 0) checked.append(FarAhead)
        (0 until delay + 150).foreach { number =>
          if (checked.random.nextInt(4) > 0) checked.releaseNear(number.toLong)
          // At times a row is due at once, many rows arrive, or none.
          val arrived = checked.random.nextInt(20) match {
            case 0 => Seq(0)
            case 1 => Seq.fill(checked.random.nextInt(40))(checked.random.nextInt(delay)).sorted
            case 2 => Nil
            case _ => Seq.fill(rows)(checked.random.nextInt(delay))
          }
          checked.append(arrived.map(number.toLong + _))
          checked.saveAndRestore()
        }
        checked.release(End)
        assert(checked.log.size == 0)
        assert(checked.segments.numbers.isEmpty)
    }
  }

  test("a flush within a millisecond releases each row once") {
    val checked = new Checked(1)
    def add(micros: Long): Unit = {
      checked.appendAt(Seq(micros))
      checked.saveAndRestore()
    }
    // The row that is released is behind one of its millisecond that stays.
    Seq(10500L, 10000L).foreach(add)
    checked.releaseBefore(10000L + BatchTimes.OneMicro)
    checked.saveAndRestore()
    checked.releaseBefore(12000L + BatchTimes.OneMicro)
    assert(checked.log.size == 0)
  }

  testEach("a flush within a millisecond releases scheduled rows")(3L, 4L, 10L) { until =>
    val checked = new Checked(3)
    checked.random.shuffle((1L to 200L).toList).foreach { at =>
      checked.appendAt(Seq(at * 1000))
      checked.saveAndRestore()
    }
    checked.release(2)
    checked.append(300L)
    assert(checked.save()._1 == WaitingLogCodec.Scheduled)
    checked.saveAndRestore()
    checked.releaseBefore(until * 1000 + BatchTimes.OneMicro)
    checked.saveAndRestore()
    checked.release(End)
  }

  testEach("a row in the far future does not keep released rows for ever")(5, 700) { rows =>
    val checked = new Checked(3)
    checked.append(FarAhead)
    (0 until 2000 / rows * 5).foreach(checked.batch(_, 10, rows))
    // Measured: 3 and 202 entries.
    assert(checked.segments.numbers.size < 100 + rows)
  }

  test("a row in the far future in each micro-batch is merged with those before it", Longer) {
    val checked = new Checked(4, mostUnsorted = 4)
    (0 until 1100).foreach { number =>
      // Nothing is released in the first micro-batches.
      if (number > 1060) checked.release(number.toLong)
      checked.append((0 until 8).map(_ => number.toLong + 1050) :+ (FarAhead + number))
      checked.saveAndRestore()
    }
    // Measured: 1,123 bytes.
    assert(checked.lastValue < 10 * WaitingLog.MostSequences)
  }

  // Measured: 42.2 and 63.1 bytes.
  // More rows wait than may be unsorted, in the second case.
  testEach("each of few rows out of order is written a few times")(360 -> 45, 1440 -> 70) {
    case (delay, bound) =>
      val checked = new Checked(5, comparesOnce = true)
      (0 until delay + 40).foreach(checked.batchOfOne(_, delay))
      checked.written = 0
      (delay + 40 until delay + 2040).foreach(checked.batchOfOne(_, delay))
      val perRow = checked.written.toDouble / 2000
      assert(perRow < bound, "bytes written per row")
  }

  test("of few rows out of order, a release reads few that stay") {
    // To read all rows that wait would be 2,000 bytes; most of a release is one schedule and one run.
    val (delay, measured) = (360, 320)
    val checked = new Checked(10, comparesOnce = true)
    (0 until delay + 40).foreach(checked.batchOfOne(_, delay))
    checked.read = 0
    (delay + 40 until delay + 40 + measured).foreach(checked.batchOfOne(_, delay))
    // Measured: 179 bytes.
    assert(checked.read / measured < 220)
  }

  // Measured: 12.1 and 10.9 bytes written, and an 11th and a 20th of the stored bytes read.
  testEach("of many rows out of order, a release reads few that stay")(
    64 -> 14,
    WaitingLog.MostUnsorted -> 13) { case (mostUnsorted, bound) =>
    val (delay, rows, measured) = (120, 200, 30)
    val checked = new Checked(6, mostUnsorted, comparesOnce = true)
    (0 until delay + 10).foreach(checked.batchOfMany(_, delay, rows))
    checked.written = 0
    checked.read = 0
    (delay + 10 until delay + 10 + measured).foreach(checked.batchOfMany(_, delay, rows))
    val (stored, read) = (checked.segments.bytesHeld, checked.read / measured)
    assert(read < stored / 8, s"of $stored bytes in a micro-batch")
    val ofRow = checked.written.toDouble / measured / rows
    assert(ofRow < bound, "bytes written per row")
  }

  test("rows of more sequences than a value has are written a few times") {
    val (delay, rows, measured) = (1500, 4, 600)
    val checked = new Checked(7, mostUnsorted = 3, mostSequences = 64, comparesOnce = true)
    (0 until delay).foreach(checked.batchOfMany(_, delay, rows))
    checked.written = 0
    checked.valuesWritten = 0
    (delay until delay + measured).foreach(checked.batchOfMany(_, delay, rows))
    val ofRow = (checked.written - checked.valuesWritten).toDouble / measured / rows
    // Measured: 18.0.
    assert(ofRow < 25, "bytes written per row")
  }

  test("large rows are released from several sequences") {
    val checked = new Checked(9, mostUnsorted = 4, text = 100000)
    (0 until 4).foreach(_ => checked.append((0 until 20).map(_.toLong)))
    checked.saveAndRestore()
    checked.release(End)
    assert(checked.log.size == 0)
  }

  // The last numbers of the value are those of the sequences: rows before, rows, time.
  testEach("sequences with a wrong number before the end are refused")(2, 3, 5, 6) { fromEnd =>
    val stored = new Checked(8, mostUnsorted = 4)
    stored.append((0 until 20).map(_.toLong))
    stored.append((0 until 10).map(_.toLong))
    val (kind, bytes) = stored.save()
    assert(kind == WaitingLogCodec.Sequences)
    bytes(bytes.length - fromEnd) = 63
    intercept[CorruptStateException] {
      new WaitingLog(Plan, stored.segments).restore(new ByteReader(bytes), kind, Clock)
    }
  }

  testEach[(String, Array[Byte] => Array[Byte])]("a schedule that cannot be is refused")(
    "none" -> (_ => null),
    "an empty one" -> (_ => Array.emptyByteArray),
    "without the last byte" -> (_.dropRight(1)),
    "with another byte" -> (_ :+ 0.toByte),
    // Behind the number of rows, and their end, which takes two bytes.
    "with another time" -> (stored => stored.updated(3, (stored(3) ^ 2).toByte)),
    "that ends before its rows" -> (_ => scheduleUntil(0L)),
    "that ends after the rows" -> (_ => scheduleUntil(1L << 20)),
    "that ends after the greatest number" -> (_ => scheduleUntil(Long.MaxValue))) {
    case (_, damaged) =>
      val (checked, kind, bytes) = scheduled()
      val stored = checked.segments.get(ReleaseSchedule.Number)
      checked.segments.put(ReleaseSchedule.Number, damaged(stored))
      intercept[CorruptStateException](releaseOf(checked.segments, kind, bytes))
  }

  /** A stored schedule of rows before `end`. */
  private def scheduleUntil(end: Long): Array[Byte] = {
    val segments = new MapSegments
    val rows = Array.tabulate(ReleaseSchedule.MostRows)(i => ScheduledRow(FarAhead + i, 0))
    new ReleaseSchedule(segments).replace(rows, end)
    segments.get(ReleaseSchedule.Number)
  }

  // The value ends with two bytes: a number below 0 for that of rows, and a bound of a time.
  testEach[(String, (ByteWriter, Long) => Unit)](
    "the value of a group with a schedule that cannot be is refused")(
    "a number of rows that does not fit" -> ((out, rows) => out.number(rows + (1L << 32))),
    "a number below 0 that does not fit" -> { (out, rows) =>
      out.number(-1L - rows - (1L << 32))
      out.byte(0)
    },
    "the least number" -> { (out, _) =>
      out.number(Long.MinValue)
      out.byte(0)
    },
    "the bound 64" -> (withBound(_, _, 64)),
    "the bound 127" -> (withBound(_, _, 127)),
    "the bound -1" -> (withBound(_, _, -1)),
    "the bound -128" -> (withBound(_, _, -128))) { case (_, write) =>
    val (checked, kind, bytes) = scheduled()
    releaseOf(checked.segments, kind, bytes)
    val rows = -1L - new ByteReader(bytes.takeRight(2)).number()
    assert(rows >= 0)
    val out = new ByteWriter
    write(out, rows)
    val damaged = bytes.dropRight(2) ++ out.toArray
    intercept[CorruptStateException](releaseOf(checked.segments, kind, damaged))
  }

  private def withBound(out: ByteWriter, rows: Long, bound: Int): Unit = {
    out.number(-1L - rows)
    out.byte(bound)
  }

  /** A log with a schedule to which a later row has been appended, its kind and its value. */
  private def scheduled(): (Checked, Int, Array[Byte]) = {
    val checked = new Checked(11)
    (0 until 400).foreach(checked.batchOfOne(_, 200))
    checked.append(600L)
    val (kind, bytes) = checked.save()
    assert(kind == WaitingLogCodec.Scheduled)
    (checked, kind, bytes)
  }

  private def releaseOf(segments: MapSegments, kind: Int, bytes: Array[Byte]): WaitingRows = {
    val log = new WaitingLog(Plan, segments)
    log.restore(new ByteReader(bytes), kind, Clock)
    log.release(405000L, order)
  }

  testEach("logs that cannot be are refused")(
    Seq(-1),
    Seq(5, -1, 0, 0),
    Seq(3, 1, -1, 0, 0),
    Seq(1, -1, 0, 0)) { stored =>
    val out = new ByteWriter
    stored.tail.foreach(n => out.number(n.toLong))
    val log = new WaitingLog(Plan, new MapSegments)
    intercept[CorruptStateException] {
      log.restore(new ByteReader(out.toArray), stored.head, Clock)
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

  /** A time that is released last, in milliseconds. */
  private val FarAhead = 1000000L

  /** Rows of the same time are equal, as those of a source that numbers its rows. */
  private val order = RowOrdering.create(Plan.waitingOrder.take(1), Plan.waitingColumns)
  private val toRow =
    UnsafeProjection.create(Plan.waitingColumns.map(_.dataType).toArray[DataType])

  /** A log and the times and numbers of the rows that it should have.
    *
    * @param comparesOnce
    *   true to compare all rows once in a micro-batch, when the log has been restored
    */
  final class Checked(
      seed: Long,
      mostUnsorted: Int = WaitingLog.MostUnsorted,
      mostSequences: Int = WaitingLog.MostSequences,
      text: Int = 4,
      comparesOnce: Boolean = false) {
    val segments = new MapSegments
    var written = 0

    /** The bytes that releases have read. */
    var read = 0
    private var isReleasing = false

    /** The length of the last value of the group, and of all values. */
    var lastValue = 0
    var valuesWritten = 0
    private val counted = new Segments {
      override def get(number: Long): Array[Byte] = {
        val bytes = segments.get(number)
        if (bytes != null && isReleasing) read += bytes.length
        bytes
      }
      override def remove(number: Long): Unit = segments.remove(number)
      override def put(number: Long, bytes: Array[Byte]): Unit = {
        written += bytes.length
        segments.put(number, bytes)
      }
    }
    val random = new Random(seed)
    private var expected = mutable.ArrayBuffer.empty[(Long, Long)]
    private val waiting = mutable.BitSet.empty
    private var numbers = 0

    /** The time in microseconds before which rows have been released. */
    private var released = Long.MinValue
    var log: WaitingLog = newLog()
    log.clear()

    private def newLog(): WaitingLog =
      new WaitingLog(Plan, counted, mostUnsorted = mostUnsorted, mostSequences = mostSequences)

    /** Releases rows, adds up to `most` rows not before the watermark, and restores the log. Most
      * batches are in order, as those of a stream.
      */
    def batch(number: Int, disorder: Int, most: Int): Unit = {
      if (random.nextInt(3) > 0) releaseNear(number.toLong)
      val times = Seq.fill(random.nextInt(most + 1)) {
        Math.max(Math.floorDiv(released, 1000L), number.toLong) + random.nextInt(disorder + 1)
      }
      append(if (random.nextInt(4) > 0) times.sorted else times)
      saveAndRestore()
    }

    def batchOfOne(number: Int, disorder: Int): Unit = {
      release(number.toLong)
      append(number.toLong + random.nextInt(disorder))
      saveAndRestore()
    }

    def batchOfMany(number: Int, disorder: Int, rows: Int): Unit = {
      release(number.toLong)
      append(Seq.fill(rows)(number.toLong + random.nextInt(disorder)).sorted)
      saveAndRestore()
    }

    def append(millis: Long): Unit = append(Seq(millis))

    def append(millis: Seq[Long]): Unit =
      // Some rows have equal times. An earlier row than those released would be late.
      appendAt(millis.map(at => Math.max(at * 1000 + random.nextInt(4) * 300, released)))

    def appendAt(micros: Seq[Long]): Unit = {
      micros.foreach { time =>
        log.append(rowOf(time, numbers.toLong), order)
        expected += time -> numbers.toLong
        waiting += numbers
        numbers += 1
      }
      check(!comparesOnce)
      log.settle(order)
      check(!comparesOnce)
    }

    def release(millis: Long): Unit = releaseBefore(millis * 1000)

    /** Releases rows as most micro-batches do, or as a flush that leaves later rows of the
      * millisecond.
      */
    def releaseNear(millis: Long): Unit =
      releaseBefore(millis * 1000 + (if (random.nextInt(6) == 0) BatchTimes.OneMicro else 0L))

    /** Releases rows before a time in microseconds. */
    def releaseBefore(before: Long): Unit = {
      val (due, staying) = expected.partition(row => row._1 < before)
      expected = staying
      due.foreach { case (_, number) => waiting -= number.toInt }
      isReleasing = true
      val rows = log.release(before, order)
      val found = mutable.ArrayBuffer.empty[(Long, Long)]
      while (rows.first != null) {
        found += rows.first.getLong(1) -> rows.first.getLong(2)
        rows.take()
        // A row that was taken is in the window, and is not counted twice against max_rows.
        demand(log.size == staying.size + due.size - found.size)
      }
      rows.finish()
      isReleasing = false
      released = before
      demand(found == due.sortBy(_._1))
      check(!comparesOnce)
    }

    /** Returns the kind of the log and its value. */
    def save(): (Int, Array[Byte]) = {
      val out = new ByteWriter
      val kind = log.kind
      log.save(out, Clock)
      (kind, out.toArray)
    }

    def saveAndRestore(): Unit = {
      val (kind, bytes) = save()
      lastValue = bytes.length
      valuesWritten += lastValue
      written += lastValue
      if (random.nextBoolean()) log = newLog()
      val in = new ByteReader(bytes)
      log.restore(in, kind, Clock)
      demand(in.remaining == 0)
      check(comparesRows = true)
    }

    private def check(comparesRows: Boolean): Unit = {
      demand(log.size == expected.size)
      if (comparesRows) {
        val first = expected.iterator.map(_._1).minOption.getOrElse(Long.MaxValue)
        demand(log.firstTime == first || log.firstTime == Math.floorDiv(first, 1000L) * 1000)
        val last = expected.iterator.map(row => Math.floorDiv(row._1, 1000L)).maxOption
        demand(log.lastTime == last.getOrElse(Long.MinValue))
        val row = new UnsafeRow(Plan.waitingColumns.size)
        val found = mutable.BitSet.empty
        log.ordinals.foreach { ordinal =>
          log.pointTo(row, ordinal)
          found += row.getLong(2).toInt
        }
        demand(found == waiting)
      }
    }

    private def demand(holds: Boolean): Unit =
      if (!holds) throw new AssertionError("the log has other rows")

    private def rowOf(time: Long, number: Long): UnsafeRow =
      toRow(InternalRow(7L, time, number, UTF8String.fromString("t" * text))).copy()
  }
}
