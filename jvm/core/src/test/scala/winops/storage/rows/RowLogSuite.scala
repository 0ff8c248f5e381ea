package winops.storage.rows

import scala.collection.mutable
import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, HeapSegments, Segments}

class RowLogSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import RowLogSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 300)

  test("rows are found under their ordinals until they are released") {
    forAll(operations, Gen.oneOf(true, false), Gen.long) { (operations, withArrival, seed) =>
      val log = new Checked(withArrival, seed)
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
    def written(window: Int): Double = {
      val segments = new RecordingSegments
      val log = new RowLog(segments, withArrival = false)
      log.clear()
      var saved = 0L
      val rows = window + 50000
      (0 until rows).foreach { i =>
        log.append(0L, 20)
        if (log.size > window) log.release(log.end - window)
        if (i % 100 == 99) {
          val out = new ByteWriter
          log.save(out)
          if (i >= window) saved += out.toArray.length
        }
      }
      (saved + segments.bytesPut).toDouble / rows
    }
    assert(written(100000) < 2 * written(1000))
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
      log.segments.replace(2, damage(log.segments.get(2)))
      log.log.find(100)
      intercept[CorruptStateException](log.log.find(300))
    }
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

  test("segments that are not there are not removed one by one") {
    val out = new ByteWriter
    out.number(0L)
    out.number(RowLog.SegmentRows.toLong << 40)
    out.number(0L)
    val log = new RowLog(new HeapSegments, withArrival = false)
    log.restore(new ByteReader(out.toArray))
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

  /** Segments that count the bytes written. */
  final class RecordingSegments extends Segments {
    private val kept = mutable.Map.empty[Long, Array[Byte]]
    var bytesPut = 0L

    def keys: Set[Long] = kept.keySet.toSet
    def replace(number: Long, bytes: Array[Byte]): Unit = kept.update(number, bytes)

    override def get(number: Long): Array[Byte] = kept.getOrElse(number, null)

    override def put(number: Long, bytes: Array[Byte]): Unit = {
      assert(!kept.contains(number), s"segment $number was written twice")
      bytesPut += bytes.length
      kept.update(number, bytes)
    }

    override def remove(number: Long): Unit = {
      assert(kept.contains(number), s"segment $number was removed before it was written")
      kept.remove(number)
    }
  }

  private final case class Row(arrival: Long, bytes: Seq[Byte])

  /** A log with a plain list of its expected rows. */
  final class Checked(withArrival: Boolean, seed: Long) {
    val segments = new RecordingSegments
    var log = new RowLog(segments, withArrival)
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
          if (!sameBuffers) log = new RowLog(segments, withArrival)
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
      assert(segments.keys.forall(_ >= first / RowLog.SegmentRows))
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
