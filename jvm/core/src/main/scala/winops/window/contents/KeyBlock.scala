package winops.window.contents

import winops.storage.bytes.{ByteReader, ByteWriter, Bytes, CorruptStateException}

/** Pairs of the hash of a key and the number of its row, in bytes: a hash has four bytes, and a
  * number as few as the largest distance from the least number needs.
  */
private[contents] final class KeyBlock(bytes: Array[Byte]) {
  import KeyBlock._

  private val in = new ByteReader(bytes)
  private val width = in.byte()

  /** The number of pairs. */
  val count: Int = in.count(bytes.length.toLong).toInt

  private val least = in.number()
  private val ofHashes = in.position
  private val ofNumbers = ofHashes + count * HashBytes
  if (width < 0 || width > java.lang.Long.BYTES || ofNumbers + count * width != bytes.length) {
    throw new CorruptStateException(s"a block of $count keys has ${bytes.length} bytes")
  }

  def hash(i: Int): Int = Bytes.getInt(bytes, ofHashes + i * HashBytes)

  def number(i: Int): Long =
    if (width == 0) least
    else {
      val word = Bytes.getWord(bytes, ofNumbers + i * width, width)
      least + (word >>> (java.lang.Long.SIZE - width * java.lang.Byte.SIZE))
    }
}

private[contents] object KeyBlock {
  private val HashBytes = Integer.BYTES

  /** Writes the first `count` pairs. */
  def write(
      hashes: Array[Int],
      numbers: Array[Long],
      count: Int,
      out: ByteWriter): Array[Byte] = {
    var least = if (count == 0) 0L else numbers(0)
    var most = least
    var i = 1
    while (i < count) {
      least = Math.min(least, numbers(i))
      most = Math.max(most, numbers(i))
      i += 1
    }
    val bits = java.lang.Long.SIZE - java.lang.Long.numberOfLeadingZeros(most - least)
    val width = (bits + java.lang.Byte.SIZE - 1) / java.lang.Byte.SIZE
    out.clear()
    out.byte(width)
    out.number(count.toLong)
    out.number(least)
    i = 0
    while (i < count) {
      appendHash(out, hashes(i))
      i += 1
    }
    i = 0
    while (i < count) {
      appendNumber(out, numbers(i) - least, width)
      i += 1
    }
    out.toArray
  }

  /** Appends the bytes of a hash, the lowest first. */
  private def appendHash(out: ByteWriter, hash: Int): Unit = {
    var shift = 0
    while (shift < Integer.SIZE) {
      out.byte(hash >>> shift)
      shift += java.lang.Byte.SIZE
    }
  }

  /** Appends the lowest bytes of a number, the highest first. */
  private def appendNumber(out: ByteWriter, number: Long, width: Int): Unit = {
    var i = width - 1
    while (i >= 0) {
      out.byte((number >>> (i * java.lang.Byte.SIZE)).toInt)
      i -= 1
    }
  }
}
