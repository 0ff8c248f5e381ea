package winops.storage.rows

import scala.collection.mutable
import scala.util.Random

import org.scalacheck.Gen
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, HeapSegments, Segments}
import winops.testing.TableTests

class RowLogSuite extends TableTests with ScalaCheckPropertyChecks {
  import RowLogSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 300)

  test("rows are found under their ordinals until they are released") {
    forAll(operations, Gen.long) { (operations, seed) =>
      val log = new Checked(withArrival = seed % 2 == 0, seed)
      operations.foreach(log.run)
      log.check()
      log.run(Release(1.0))
      assert(log.segments.keys.isEmpty)
    }
  }

  test("a discarded group leaves nothing behind and the next one begins at zero") {
    forAll(operations, Gen.long) { (operations, seed) =>
      val log = new Checked(withArrival = true, seed)
      operations.foreach(log.run)
      log.run(Discard)
      assert(log.segments.keys.isEmpty)
      operations.foreach(log.run)
      log.check()
    }
  }

  test("rows larger than the buffer, and empty rows, are kept") {
    val log = new Checked(withArrival = true, seed = 1)
    Seq(0, 1, 100000, 0, 5000, 3, 4096, 0).foreach(log.appendOne)
    log.check()
    log.run(Release(0.4))
    Seq(300000, 0, 7).foreach(log.appendOne)
    log.run(SaveAndRestore(sameBuffers = false))
    log.check()
  }

  test("a row costs the same in a small and in a large window") {
    def written(window: Int, batch: Int): Double = {
      val segments = new RecordingSegments
      val log = new RowLog(segments, withArrival = false)
      log.clear()
      // Bytes of the values after so many rows.
      def run(rows: Int): Long = (1 to rows / batch).map { _ =>
        (0 until batch).foreach(_ => log.append(0L, 20))
        if (log.size > window) log.release(log.end - window)
        savedAndRestored(log).toLong
      }.sum
      run(window)
      val before = segments.bytesPut
      val rows = 50000
      (run(rows) + segments.bytesPut - before).toDouble / rows
    }
    Seq(2, 100).foreach { batch =>
      val (small, large) = (written(1000, batch), written(100000, batch))
      // Measured: 1.06 times as much in micro-batches of 2 rows, and no more in those of 100.
      assert(large < 1.1 * small, s"bytes of a row, in micro-batches of $batch rows")
    }
  }

  test("a group that got many rows at once is not rewritten whole as they leave one by one") {
    val segments = new RecordingSegments
    val log = new RowLog(segments, withArrival = false)
    log.clear()
    (0 until 200).foreach(_ => log.append(0L, 20))
    val whole = savedAndRestored(log)
    val each = (0 until 100).map { _ =>
      log.release(log.first + 1)
      savedAndRestored(log)
    }
    assert(each.head > whole / 2, "the next micro-batch may bring as many rows")
    assert(each.tail.forall(_ < whole / 10))
    assert(segments.bytesPut < 2 * whole)
  }

  test("rows that came together move into few runs") {
    val segments = new RecordingSegments
    val log = new RowLog(segments, withArrival = false)
    log.clear()
    (0 until 100).foreach(_ => log.append(0L, 20))
    savedAndRestored(log)
    log.append(0L, 20)
    log.release(1)
    savedAndRestored(log)
    assert(segments.entriesChanged == 6, "runs of 16 rows")
  }

  test("rows that leave in a burst keep no others in the value of their group") {
    val log = new RowLog(new RecordingSegments, withArrival = false)
    def bytesAfter(appended: Int, released: Int): Int = {
      (0 until appended).foreach(_ => log.append(0L, 20))
      log.release(log.first + released)
      savedAndRestored(log)
    }
    log.clear()
    val mostBytes = bytesAfter(64, released = 0)
    log.clear()
    (0 until 60).foreach(_ => bytesAfter(20, released = 0))
    // Runs are as long as two micro-batches, so fewer than 64 rows stay.
    (1 to 8).foreach { batches =>
      (0 until batches).foreach(_ => bytesAfter(20, released = 20))
      assert(bytesAfter(20, released = 80) < mostBytes)
    }
  }

  test("a window that every other micro-batch replaces stays in the value of its group") {
    val segments = new RecordingSegments
    val log = new RowLog(segments, withArrival = false)
    log.clear()
    (0 until 6).foreach { _ =>
      (0 until 100).foreach(_ => log.append(0L, 20))
      log.release(log.end - 100)
      savedAndRestored(log)
      // The rows of this micro-batch wait for the watermark.
      savedAndRestored(log)
    }
    assert(segments.bytesPut == 0)
  }

  test("a segment that is missing, damaged or too short is refused") {
    val damages = Seq[Array[Byte] => Array[Byte]](
      _ => null,
      _ => Array.empty,
      _.dropRight(1),
      _ :+ 0.toByte,
      bytes => bytes.updated(0, (bytes(0) + 1).toByte),
      bytes => bytes.updated(1, (bytes(1) - 1).toByte),
      bytes => bytes.updated(2, (bytes(2) + 1).toByte))
    damages.foreach { damage =>
      val log = new Checked(withArrival = true, seed = 3)
      (0 until 2000).foreach(_ => log.appendOne(9))
      log.run(SaveAndRestore(sameBuffers = true))
      val run = RowLog.FirstRun + 288
      log.segments.replace(run, damage(log.segments.get(run)))
      log.log.find(100)
      intercept[CorruptStateException](log.log.find(300))
    }
  }

  test("runs of rows that are too long or at another place are refused") {
    def bytesOf(missing: Long, count: Int): Array[Byte] = {
      val rows = new RowBuffer(withArrival = false)
      (0 until count).foreach(_ => rows.append(0L, 3))
      val out = new ByteWriter
      RowRun.write(out, rows, count, RowForm.Unknown, missing)
      out.toArray
    }
    Seq(bytesOf(0, 9), bytesOf(8, 0), bytesOf(0, 4)).foreach { bytes =>
      val segments = new HeapSegments
      val log = new RowLog(segments, withArrival = false)
      segments.put(RowLog.FirstRun, bytes)
      log.restore(numbers(0, 8 << 1, 0, 0))
      intercept[CorruptStateException](log.find(7))
      intercept[CorruptStateException](log.discard())
    }
  }

  testEach("places of rows that cannot be are refused")(
    Seq[Long](0, 8 << 1, -8, 0),
    Seq[Long](0, 8 << 1, 4, 0),
    Seq[Long](12, 8 << 1, 3, 0),
    Seq[Long](300, 8 << 1, 204, 0),
    Seq[Long](0, -1, 0),
    Seq[Long](-1, 8 << 1, 0, 0),
    Seq[Long](Long.MaxValue, 8 << 1, 0, 0),
    Seq[Long](0, 0, -1)) { place =>
    val log = new RowLog(new HeapSegments, withArrival = false)
    intercept[CorruptStateException](log.restore(numbers(place: _*)))
  }

  testEach("few rows of a long window are rewritten")(20, 100, 1000, 10000) { window =>
    val costs = new Costs(window)
    // Measured in the longest window: 71 bytes and 0.375 entries written, 216 bytes read.
    assert(costs.bytesWritten < 85, "bytes written per row")
    assert(costs.entriesWritten < 0.4, "entries written per row")
    assert(costs.bytesRead < 300, "bytes read per row")
  }

  test("a row that was released before its segment was sealed is not found in it") {
    val segments = new RecordingSegments
    val log = new RowLog(segments, withArrival = false)
    log.clear()
    (0 until 200).foreach(_ => log.append(0L, 5))
    log.release(100)
    (0 until 1000).foreach(_ => log.append(0L, 5))
    log.save(new ByteWriter)
    log.find(100)
    intercept[CorruptStateException](log.find(99))
  }

  test("a row behind the newest is not found") {
    val log = new RowLog(new HeapSegments, withArrival = false)
    log.clear()
    (0 until 200).foreach(_ => log.append(0L, 5))
    log.release(100)
    log.find(199)
    intercept[CorruptStateException](log.find(200))
    intercept[CorruptStateException](log.find(Long.MaxValue))
  }

  test("runs that are not there are not removed one by one") {
    val many = RowLog.LongestRun.toLong << 40
    val log = new RowLog(new HeapSegments, withArrival = false)
    log.restore(numbers(0, many << 1, 0, 0))
    intercept[CorruptStateException](log.discard())
  }

  test("segments on the heap are there until they are removed") {
    val segments = new HeapSegments
    segments.put(3, Array[Byte](1, 2))
    assert(segments.get(3).sameElements(Array[Byte](1, 2)))
    assert(segments.get(4) == null)
    segments.remove(3)
    assert(segments.get(3) == null)
    segments.put(5, Array.empty)
    segments.clear()
    assert(segments.get(5) == null)
  }
}

private object RowLogSuite {
  sealed trait Operation
  final case class Append(rows: Int, longest: Int) extends Operation
  final case class Release(share: Double) extends Operation
  final case class SaveAndRestore(sameBuffers: Boolean) extends Operation
  case object Look extends Operation
  case object Discard extends Operation

  val operations: Gen[Seq[Operation]] = for {
    size <- Gen.choose(1, 25)
    operations <- Gen.listOfN(
      size,
      Gen.frequency(
        4 -> Gen.zip(Gen.choose(1, 20), Gen.oneOf(0, 3, 40, 900)).map(Append.tupled),
        3 -> Gen.zip(Gen.choose(100, 1500), Gen.oneOf(0, 3, 40)).map(Append.tupled),
        3 -> Gen.choose(0.0, 1.0).map(Release(_)),
        1 -> Gen.const(Release(1.0)),
        3 -> Gen.oneOf(true, false).map(SaveAndRestore(_)),
        3 -> Gen.const(Look)))
  } yield operations

  def numbers(values: Long*): ByteReader = {
    val out = new ByteWriter
    values.foreach(out.number)
    new ByteReader(out.toArray)
  }

  /** Ends a micro-batch and begins the next one; returns the bytes of the group's value. */
  def savedAndRestored(log: RowLog): Int = {
    val out = new ByteWriter
    log.save(out)
    val bytes = out.toArray
    log.restore(new ByteReader(bytes))
    bytes.length
  }

  /** The costs of a row if a full window gets one row in each micro-batch. The window is filled
    * by 200 rows in each.
    */
  final class Costs(window: Int) {
    private val segments = new RecordingSegments
    private val log = new RowLog(segments, withArrival = false)
    private var saved = 0L
    private var read = 0L
    private var batches = 0

    log.clear()
    while (log.size < window) batch(Math.min(200, window - log.size.toInt))
    (0 until window).foreach(_ => batch(1))
    segments.reset()
    saved = 0L
    read = 0L
    batches = 0
    (0 until 2000).foreach(_ => batch(1))

    def bytesWritten: Double = (saved + segments.bytesPut).toDouble / batches
    def bytesRead: Double = (read + segments.bytesGot).toDouble / batches
    def entriesWritten: Double = segments.entriesChanged.toDouble / batches

    private def batch(rows: Int): Unit = {
      (0 until rows).foreach { _ =>
        val position = log.append(0L, 20)
        (0 until 20).foreach(i => log.target(position + i) = (log.end * 31 + i * i).toByte)
        if (log.size > window) {
          log.find(log.first)
          log.release(log.end - window)
        }
      }
      val out = new ByteWriter
      log.save(out)
      saved += out.toArray.length
      read += out.toArray.length
      log.restore(new ByteReader(out.toArray))
      batches += 1
    }
  }

  /** Segments that count what is read and written. */
  final class RecordingSegments extends Segments {
    private val kept = mutable.Map.empty[Long, Array[Byte]]
    private val written = mutable.Map.empty[Long, Int].withDefaultValue(0)
    var bytesPut = 0L
    var bytesGot = 0L
    var entriesChanged = 0L

    def reset(): Unit = {
      bytesPut = 0L
      bytesGot = 0L
      entriesChanged = 0L
    }

    def keys: Set[Long] = kept.keySet.toSet
    def replace(number: Long, bytes: Array[Byte]): Unit = kept.update(number, bytes)

    override def get(number: Long): Array[Byte] = {
      val bytes = kept.getOrElse(number, null)
      if (bytes != null) bytesGot += bytes.length
      bytes
    }

    override def put(number: Long, bytes: Array[Byte]): Unit = {
      written(number) += 1
      assert(written(number) <= 2, s"segment $number was written more than twice")
      bytesPut += bytes.length
      entriesChanged += 1
      kept.update(number, bytes)
    }

    override def remove(number: Long): Unit = {
      assert(kept.contains(number), s"segment $number was removed before it was written")
      entriesChanged += 1
      written.remove(number)
      kept.remove(number)
    }
  }

  private final case class Row(arrival: Long, bytes: Seq[Byte])

  /** A log with a plain list of its expected rows. */
  final class Checked(withArrival: Boolean, seed: Long) {
    val segments = new RecordingSegments
    var log = newLog()
    private val random = new Random(seed)
    private val rows = mutable.ArrayBuffer.empty[Row]
    private var first = 0

    log.clear()

    def run(operation: Operation): Unit = {
      operation match {
        case Append(count, longest) =>
          (0 until count).foreach(_ => appendOne(random.nextInt(longest + 1)))
        case Release(share) =>
          first += ((rows.size - first) * share).toInt
          log.release(first.toLong)
        case SaveAndRestore(sameBuffers) =>
          val out = new ByteWriter
          log.save(out)
          if (!sameBuffers) log = newLog()
          val in = new ByteReader(out.toArray)
          log.restore(in)
          assert(in.remaining == 0)
        case Look => (0 until 20).foreach(_ => lookAtOne())
        case Discard =>
          log.discard()
          rows.clear()
          first = 0
      }
      assert(log.first == first)
      assert(log.end == rows.size)
      assert(log.size == rows.size - first)
      assert(segments.keys.forall(endOf(_) > first), s"entries without rows before $first")
    }

    private def newLog(): RowLog = new RowLog(segments, withArrival)

    /** The row behind those of an entry. */
    private def endOf(number: Long): Long = {
      val run = new RowRun(withArrival)
      run.restore(number - RowLog.FirstRun, segments.get(number))
      run.end
    }

    def appendOne(length: Int): Unit = {
      val bytes = new Array[Byte](length)
      random.nextBytes(bytes)
      val arrival = random.nextLong()
      val position = log.append(arrival, length)
      System.arraycopy(bytes, 0, log.target, position, length)
      rows += Row(arrival, bytes.toSeq)
    }

    /** Compares every row. */
    def check(): Unit = (first until rows.size).foreach(look)

    private def lookAtOne(): Unit =
      if (first < rows.size) look(first + random.nextInt(rows.size - first))

    private def look(ordinal: Int): Unit = {
      val row = rows(ordinal)
      assert(log.arrival(ordinal.toLong) == (if (withArrival) row.arrival else 0L))
      log.find(ordinal.toLong)
      val from = log.rowPosition
      assert(log.rowBytes.slice(from, from + log.rowLength).toSeq == row.bytes)
    }
  }
}
