package winops.storage.rows

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, EOFException}

import scala.util.{Failure, Random, Success, Try}

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import winops.storage.bytes.{ByteWriter, CorruptStateException}

/** Rows in packed blocks. */
class RowBlocksSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import RowBlocksSuite._

  test("rows that were written are read, in one block or in many") {
    forAll(Gen.listOf(RowBufferSuite.rows.map(_._2)), Gen.choose(1, 300)) { (rows, times) =>
      val all = Seq.fill(times)(rows).flatten
      assert(read(written(all)) == all)
    }
  }

  test("a row is longer than a block") {
    val random = new Random(5)
    val rows = Seq(10, 1 << 17, 0, 1 << 20, 3).map(n => Seq.fill(n)(random.nextInt().toByte))
    assert(read(written(rows)) == rows)
  }

  test("a row stays as it is while the next one is read") {
    val rows = Seq.tabulate(3000)(i => Seq.fill(100)(i.toByte))
    val reader = new RowBlockReader(new ByteArrayInputStream(written(rows)))
    reader.next()
    rows.zipWithIndex.foreach { case (row, i) =>
      val (bytes, from, until) = (reader.bytes, reader.position, reader.position + reader.length)
      assert(reader.next() == (i < rows.size - 1))
      assert(bytes.slice(from, until).toSeq == row)
    }
  }

  test("a stream that is cut off or damaged is refused, or read as another") {
    val rows = Seq.tabulate(2000)(i => RowBufferSuite.words(i.toLong, 7L, i * 31L))
    val bytes = written(rows)
    val outcomes = (0 until 500).map { seed =>
      val random = new Random(seed)
      val place = random.nextInt(bytes.length)
      val damaged =
        if (seed % 2 == 0) bytes.take(place) else bytes.updated(place, random.nextInt().toByte)
      Try(read(damaged)) match {
        case Success(found) => found.size <= rows.size
        case Failure(_: CorruptStateException | _: EOFException) => true
        case Failure(other) => throw other
      }
    }
    assert(!outcomes.contains(false))
  }
}

private object RowBlocksSuite {
  def written(rows: Seq[Seq[Byte]]): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val writer = new RowBlockWriter(out, new ByteWriter)
    rows.foreach { row =>
      val position = writer.append(row.size)
      System.arraycopy(row.toArray, 0, writer.target, position, row.size)
      writer.endRow()
    }
    writer.flush()
    writer.flush()
    out.toByteArray
  }

  def read(bytes: Array[Byte]): Seq[Seq[Byte]] = {
    val reader = new RowBlockReader(new ByteArrayInputStream(bytes))
    Iterator
      .continually(reader.next())
      .takeWhile(identity)
      .map(_ => reader.bytes.slice(reader.position, reader.position + reader.length).toSeq)
      .toVector
  }
}
