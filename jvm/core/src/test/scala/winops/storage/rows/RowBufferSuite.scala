package winops.storage.rows

import java.nio.{ByteBuffer, ByteOrder}

import scala.util.Random

import org.scalacheck.{Arbitrary, Gen}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import winops.storage.bytes.{ByteReader, ByteWriter, Bytes, CorruptStateException, PackedRow, TooManyBytesException}

/** Rows in a buffer, and in their stored, packed form. */
class RowBufferSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import RowBufferSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  test("rows that were packed are unpacked") {
    forAll(Gen.listOf(rows), Gen.oneOf(true, false), Gen.choose(0.0, 1.0)) {
      (rows, withArrival, share) =>
        val buffer = filled(rows, withArrival)
        val count = (rows.size * share).toInt
        val out = new ByteWriter
        buffer.write(out, count)
        out.number(77L)
        val in = new ByteReader(out.toArray)
        // Former contents of the buffer must not affect the result.
        val read = filled(rows.reverse, withArrival)
        read.read(in, count)
        assert(in.number() == 77)
        in.finish()
        assert(content(read) == content(buffer).take(count))
    }
  }

  test("predicted rows are read as they were, whether the predictions are right or not") {
    forAll(Gen.listOf(timedRows), bytes, Gen.oneOf(true, false)) { (rows, before, withArrival) =>
      val buffer = filled(rows, withArrival)
      val shortest = buffer.layout(rows.size, Timed, before.toArray)
      val sizes = rows.map(_._2.size).distinct.size
      val alike = sizes <= 1 && (!withArrival || rows.forall(isOnTime))
      assert(alike == (shortest != RowLayout.Different))
      (if (alike) Seq(shortest, RowLayout.Alike, RowLayout.Different)
       else Seq(shortest)).foreach { layout =>
        val out = new ByteWriter
        buffer.write(out, rows.size, Timed, before.toArray, layout)
        val in = new ByteReader(out.toArray)
        val read = filled(rows.reverse, withArrival)
        read.read(in, rows.size, Timed, before.toArray, layout)
        in.finish()
        assert(content(read) == content(buffer))
      }
    }
  }

  test("rows that differ in the same bytes share their codes") {
    def bytesOf(rows: Seq[Seq[Byte]], before: Seq[Byte], layout: Int): Int = {
      val out = new ByteWriter
      filled(rows.map(0L -> _), withArrival = false)
        .write(out, rows.size, RowForm.Unknown, before.toArray, layout)
      out.toArray.length
    }
    val rows = Seq.tabulate(20)(i => words(0L, 4711L, (0x1010L + i) * 0x0101L * (i % 2 + 1), 1L))
    Seq(rows(3) -> RowLayout.SharedCodes, words() -> RowLayout.SharedAfterFirst).foreach {
      case (before, expected) =>
        val buffer = filled(rows.map(0L -> _), withArrival = false)
        val layout = buffer.layout(rows.size, RowForm.Unknown, before.toArray)
        assert(layout == expected)
        assert(bytesOf(rows, before, layout) < bytesOf(rows, before, RowLayout.Alike) - 19)
    }
    val same = Seq.fill(20)(rows.head)
    assert(filled(same.map(0L -> _), withArrival = false).layout(20) == RowLayout.Alike)
  }

  test("a row without a time is refused where times are predicted") {
    val out = new ByteWriter
    filled(Seq(1L -> Seq[Byte](1, 2, 3)), withArrival = true).write(out, 1)
    intercept[CorruptStateException] {
      new RowBuffer(withArrival = true).read(new ByteReader(out.toArray), 1, Timed)
    }
  }

  test("rows are dropped from both ends") {
    forAll(Gen.nonEmptyListOf(rows), Gen.choose(0.0, 1.0)) { (rows, share) =>
      val buffer = filled(rows, withArrival = true)
      val before = content(buffer)
      buffer.dropLast()
      val dropped = (buffer.count * share).toInt
      buffer.dropFirst(dropped)
      assert(content(buffer) == before.init.drop(dropped))
    }
  }

  test("rows that are appended after others were dropped follow them") {
    forAll(Gen.nonEmptyListOf(Gen.nonEmptyListOf(rows)), Gen.choose(0.0, 1.0)) {
      (additions, share) =>
        val buffer = new RowBuffer(withArrival = true)
        var expected = Vector.empty[(Long, Seq[Byte])]
        // Each row is compared when it has been appended, before it is dropped, and at the end.
        Seq.fill(5)(additions).flatten.foreach { rows =>
          fill(buffer, rows)
          expected ++= rows
          assert(content(buffer, expected.size - rows.size until expected.size) == rows)
          val dropped = (expected.size * share).toInt
          assert(content(buffer, 0 until dropped) == expected.take(dropped))
          buffer.dropFirst(dropped)
          expected = expected.drop(dropped)
          assert(buffer.count == expected.size)
        }
        assert(content(buffer) == expected)
    }
  }

  test("the codes of rows are found anew after rows have changed") {
    val first = words(0L, 1L, 2L).toArray
    val rows = Seq.tabulate(9)(i => words(0L, 0x0101L * i, 0x77L << 8 * (i % 7)))
    val buffer = filled(rows.map(0L -> _), withArrival = false)
    val others = Seq.tabulate(6)(i => words(-1L, i.toLong << 40, -i.toLong))
    val changes: Seq[() => Unit] = Seq(
      () => buffer.dropFirst(2),
      () => {
        buffer.clear()
        fill(buffer, others.map(0L -> _))
      })
    changes.foreach { change =>
      // The codes that are found here must not be used for other rows.
      assert(buffer.layout(6, RowForm.Unknown, first) != RowLayout.Different)
      change()
      val out = new ByteWriter
      buffer.write(out, 6, RowForm.Unknown, first, RowLayout.SharedAfterFirst)
      val read = new RowBuffer(withArrival = false)
      read.read(
        new ByteReader(out.toArray),
        6,
        RowForm.Unknown,
        first,
        RowLayout.SharedAfterFirst)
      assert(content(read) == content(buffer).take(6))
    }
  }

  test("a row that does not fit into the array with the others is an error that says so") {
    val rows = Seq(1L -> words(7L), 2L -> words(8L, 9L))
    val buffer = filled(rows, withArrival = true)
    val length = Bytes.MaxArray - 40
    val error = intercept[TooManyBytesException](buffer.append(3L, length))
    assert(error.bytes == length.toLong + 2 * 12 + 24 + 12 + PackedRow.WordBytes)
    assert(content(buffer) == rows)
  }

  test("rows that are alike take little room") {
    val random = new Random(7)
    val rows = Seq.tabulate(100) { i =>
      words(
        0L,
        4711L,
        1000000L + i * 9000L + random.nextInt(9000),
        java.lang.Double.doubleToLongBits(random.nextInt(50000) / 100.0),
        random.nextInt(1000).toLong,
        1357000000000000L + i * 900000L)
    }
    val out = new ByteWriter
    filled(rows.map(0L -> _), withArrival = false).write(out, 100)
    assert(out.toArray.length < rows.map(_.size).sum / 2)
  }

  test("no row takes much more room than it has bytes") {
    val random = new Random(8)
    val rows = Seq.fill(100)(0L -> Seq.fill(800)(random.nextInt().toByte))
    val out = new ByteWriter
    filled(rows, withArrival = false).write(out, 100)
    // Measured: 1.063 times as many bytes.
    assert(out.toArray.length < 100 * 800 * 1.08)
  }

  test("packed rows that were cut off or changed are refused, or read as others") {
    val outcomes = (0 until 3000).map { seed =>
      val random = new Random(seed)
      val isAlike = seed % 2 == 0
      def length() = if (isAlike) 24 else random.nextInt(90)
      def byte() = if (isAlike) random.nextInt().toByte else seed.toByte
      val rows = Seq.fill(20)(random.nextLong() -> Seq.fill(length())(byte()))
      val out = new ByteWriter
      val buffer = filled(rows, withArrival = true)
      val layout = buffer.layout(20)
      assert(isAlike == (layout == RowLayout.SharedCodes))
      buffer.write(out, 20, layout = layout)
      val bytes = out.toArray
      val damaged =
        if (random.nextBoolean()) bytes.take(random.nextInt(bytes.length))
        else {
          val place = random.nextInt(bytes.length)
          bytes.updated(place, random.nextInt().toByte)
        }
      try {
        val read = new RowBuffer(withArrival = true)
        read.read(new ByteReader(damaged), 20, layout = layout)
        assert(content(read).size == 20)
        true
      } catch {
        case _: CorruptStateException => false
      }
    }
    assert(outcomes.contains(true))
    assert(outcomes.contains(false))
  }
}

private object RowBufferSuite {
  private val bytes: Gen[Seq[Byte]] = Gen.oneOf(
    Gen.listOf(Arbitrary.arbitrary[Byte]),
    Gen.listOf(Gen.oneOf(0.toByte, 0.toByte, -1.toByte, 1.toByte)),
    Gen.listOf(Arbitrary.arbitrary[Long]).map(words(_: _*)),
    Gen.listOf(Gen.choose(-3L, 300L)).map(words(_: _*)))

  val rows: Gen[(Long, Seq[Byte])] = Gen.zip(Arbitrary.arbitrary[Long], bytes)

  /** Predicts that a row arrives at the time in its first eight bytes. */
  object Timed extends RowForm {
    override def beforeRun: Array[Byte] = Array.emptyByteArray
    override def beforeValue: Array[Byte] = beforeRun
    override def hasTimes: Boolean = true
    override def leastLength: Int = 8
    override def timeOf(bytes: Array[Byte], at: Int): Long = Bytes.getLong(bytes, at)
  }

  /** Rows of 16 or 24 bytes, most of which arrive at their own time. */
  val timedRows: Gen[(Long, Seq[Byte])] = for {
    time <- Arbitrary.arbitrary[Long]
    other <- Arbitrary.arbitrary[Long]
    isLate <- Gen.prob(0.1)
    isLong <- Gen.prob(0.1)
  } yield (if (isLate) other else time) ->
    (if (isLong) words(time, other, 5L) else words(time, other))

  def isOnTime(row: (Long, Seq[Byte])): Boolean = words(row._1) == row._2.take(8)

  def words(values: Long*): Seq[Byte] = {
    val buffer = ByteBuffer.allocate(values.size * 8).order(ByteOrder.LITTLE_ENDIAN)
    values.foreach(buffer.putLong)
    buffer.array.toSeq
  }

  def filled(rows: Seq[(Long, Seq[Byte])], withArrival: Boolean): RowBuffer = {
    val buffer = new RowBuffer(withArrival)
    fill(buffer, rows)
    buffer
  }

  def fill(buffer: RowBuffer, rows: Seq[(Long, Seq[Byte])]): Unit =
    rows.foreach { case (arrival, row) =>
      val at = buffer.append(arrival, row.size)
      System.arraycopy(row.toArray, 0, buffer.bytes, at, row.size)
    }

  def content(buffer: RowBuffer): Seq[(Long, Seq[Byte])] = content(buffer, 0 until buffer.count)

  def content(buffer: RowBuffer, rows: Range): Seq[(Long, Seq[Byte])] = rows.map { row =>
    val from = buffer.position(row)
    buffer.arrival(row) -> buffer.bytes.slice(from, from + buffer.length(row)).toSeq
  }
}
