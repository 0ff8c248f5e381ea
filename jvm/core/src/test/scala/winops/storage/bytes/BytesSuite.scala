package winops.storage.bytes

import org.scalacheck.{Arbitrary, Gen}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class BytesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val numbers: Gen[Long] = Gen.oneOf(
    Arbitrary.arbitrary[Long],
    Gen.choose(-300L, 300L),
    Gen.oneOf(Long.MinValue, Long.MaxValue, 0L))

  test("what was written is read") {
    forAll(Gen.listOf(numbers), Arbitrary.arbitrary[Array[Byte]]) { (written, block) =>
      val out = new ByteWriter
      written.foreach { number =>
        out.number(number)
        out.byte(number.toInt)
      }
      out.block(block)
      out.raw(block, 0, block.length)

      val in = new ByteReader(out.toArray)
      written.foreach { number =>
        assert(in.number() == number)
        assert(in.byte() == number.toByte)
      }
      assert(in.block().sameElements(block))
      assert(in.remaining == block.length)
      in.skip(block.length)
      assert(in.remaining == 0)
    }
  }

  test("a writer that was cleared begins anew") {
    val out = new ByteWriter
    out.raw(new Array[Byte](5000), 0, 5000)
    out.clear()
    out.number(1)
    assert(out.toArray.sameElements(Array[Byte](2)))
  }

  test("more bytes than an array has are an error that says how many") {
    assert(Bytes.roomFor(Bytes.MaxArray.toLong) == Bytes.MaxArray)
    val error = intercept[TooManyBytesException](Bytes.roomFor(Bytes.MaxArray + 1L))
    assert(error.bytes == Bytes.MaxArray + 1L)
    assert(error.most == Bytes.MaxArray)
    val out = new ByteWriter
    out.number(1L)
    intercept[TooManyBytesException](out.roomFor(PackedRow.roomFor(Int.MaxValue)))
    assert(out.toArray.length == 1)
  }

  test("packed bytes are those that were written, and zeros take little room") {
    forAll { (bytes: Array[Byte], zeros: Byte) =>
      val source = bytes ++ new Array[Byte](zeros & 0x7f)
      val out = new ByteWriter
      out.packed(source)
      out.byte(7)
      val in = new ByteReader(out.toArray)
      assert(in.packed().sameElements(source))
      assert(in.byte() == 7)
      intercept[CorruptStateException](new ByteReader(out.toArray.take(0)).packed())
    }
    val out = new ByteWriter
    out.packed(new Array[Byte](64))
    assert(out.toArray.length < 8)
    intercept[CorruptStateException](new ByteReader(out.toArray.dropRight(1)).packed())
  }

  test("small numbers take one byte, the largest ten") {
    def size(number: Long): Int = {
      val out = new ByteWriter
      out.number(number)
      out.toArray.length
    }
    assert(Seq(0L, 1L, -1L, 63L, -64L).map(size).forall(_ == 1))
    assert(Seq(64L, -65L).map(size).forall(_ == 2))
    assert(Seq(Long.MaxValue, Long.MinValue).map(size).forall(_ == 10))
  }

  test("reading on after the end is refused") {
    val reads = Seq[ByteReader => Any](_.byte(), _.number(), _.block(), _.skip(1))
    reads.foreach(read => intercept[CorruptStateException](read(new ByteReader(Array.empty))))
    intercept[CorruptStateException](new ByteReader(Array[Byte](-128)).number())
    intercept[CorruptStateException](new ByteReader(Array[Byte](4, 0)).block())
  }

  test("numbers that cannot be are refused") {
    intercept[CorruptStateException](new ByteReader(Array.fill[Byte](11)(-1)).number())
    intercept[CorruptStateException](new ByteReader(Array[Byte](1)).count(9))
    intercept[CorruptStateException](new ByteReader(Array[Byte](20)).count(9))
    intercept[CorruptStateException](new ByteReader(Array[Byte](1, 1)).skip(-1))
    assert(new ByteReader(Array[Byte](18)).count(9) == 9)
  }

  test("fixed-width values are little-endian") {
    val bytes = new Array[Byte](13)
    Bytes.putInt(bytes, 1, 0x01020304)
    Bytes.putLong(bytes, 5, 0x05060708090a0b0cL)
    assert(bytes.toSeq == Seq(0, 4, 3, 2, 1, 12, 11, 10, 9, 8, 7, 6, 5))
    assert(Bytes.getInt(bytes, 1) == 0x01020304)
    assert(Bytes.getLong(bytes, 5) == 0x05060708090a0b0cL)
  }
}
