package winops.storage.bytes

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Checks that rows which share codes keep all of their bytes. */
class SharedCodesSuite extends AnyFunSuite {
  import SharedCodesSuite._

  test("words of equal codes keep the bytes that either of them needs") {
    val low = 0x030000L
    val alsoLowest = 0x030001L
    val high = 0xaabbccddeeff0000L
    assert(unpacked(Seq(low, alsoLowest, high)) == Seq(low, alsoLowest, high))
    val price = 0x4029000000000000L
    val second = 0x402a800000000001L
    assert(
      unpacked(Seq(price, second, 0x00000000000000ffL)) ==
        Seq(price, second, 0x00000000000000ffL))
  }

  test("words with zeros at both ends are read as they were written") {
    val random = new Random(2026)
    for (_ <- 1 to 20000) {
      val words = Seq.fill(2 + random.nextInt(6))(wordWithZeros(random))
      assert(unpacked(words) == words, words.map(java.lang.Long.toHexString))
    }
  }
}

private object SharedCodesSuite {

  /** A word with up to seven zero bytes at either end. */
  def wordWithZeros(random: Random): Long = {
    val below = random.nextInt(8)
    val bytes = random.nextInt(9 - below)
    val mask = if (bytes == 8) -1L else (1L << bytes * 8) - 1
    (random.nextLong() & mask) << below * 8
  }

  /** Packs rows of one word, each as the difference to a row of zeros, and unpacks them. */
  def unpacked(words: Seq[Long]): Seq[Long] = {
    val zeros = new Array[Byte](PackedRow.WordBytes)
    val rows = words.map { word =>
      val row = new Array[Byte](PackedRow.WordBytes)
      Bytes.putLong(row, 0, word)
      row
    }
    val codes = new SharedCodes
    codes.begin(PackedRow.WordBytes)
    rows.foreach(row => codes.add(row, 0, row.length, zeros, 0, zeros.length))
    codes.choose()
    val packed = new Array[Byte](rows.size * PackedRow.WordBytes + 2 * PackedRow.WordBytes)
    val end = rows.foldLeft(0) { (at, row) =>
      codes.write(row, 0, row.length, zeros, 0, zeros.length, packed, at)
    }
    assert(end == rows.size * codes.rowBytes)
    val read = new Array[Byte](2 * PackedRow.WordBytes)
    rows
      .scanLeft((0, 0L)) { case ((at, _), _) =>
        val next = codes.read(packed, at, end, read, 0, zeros, 0, zeros.length)
        (next, Bytes.getLong(read, 0))
      }
      .tail
      .map(_._2)
  }
}
