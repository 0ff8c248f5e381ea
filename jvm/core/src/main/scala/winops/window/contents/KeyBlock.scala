package winops.window.contents

import winops.storage.bytes.{ByteReader, ByteWriter, Bytes, CorruptStateException}
import winops.window.expression.WindowView

/** Pairs of the hash of a key and the number of its row, in the order of the hashes as unsigned
  * numbers. In bytes, a hash has four, and a number as few as the largest distance from the least
  * number needs.
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

  /** The number of a pair with the hash for which `isSought` holds; [[WindowView.NoRow]] if there
    * is none.
    */
  def find(hash: Int, isSought: Long => Boolean): Long = {
    var found = WindowView.NoRow
    var i = firstFrom(hash)
    while (found == WindowView.NoRow && i < count && this.hash(i) == hash) {
      if (isSought(number(i))) found = number(i)
      i += 1
    }
    found
  }

  /** The place of the first pair whose hash is not less. */
  private def firstFrom(hash: Int): Int = {
    var from = 0
    var until = count
    while (from < until) {
      val middle = (from + until) >>> 1
      if (Integer.compareUnsigned(this.hash(middle), hash) < 0) from = middle + 1
      else until = middle
    }
    from
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

  /** Writes the pairs at `places`, which are in the order of their hashes. */
  def write(
      hashes: Array[Int],
      numbers: Array[Long],
      places: Array[Int],
      out: ByteWriter): Array[Byte] = {
    var least = if (places.isEmpty) 0L else numbers(places(0))
    var most = least
    places.foreach { i =>
      least = Math.min(least, numbers(i))
      most = Math.max(most, numbers(i))
    }
    val bits = java.lang.Long.SIZE - java.lang.Long.numberOfLeadingZeros(most - least)
    val width = (bits + java.lang.Byte.SIZE - 1) / java.lang.Byte.SIZE
    out.clear()
    out.byte(width)
    out.number(places.length.toLong)
    out.number(least)
    places.foreach(i => appendHash(out, hashes(i)))
    places.foreach(i => appendNumber(out, numbers(i) - least, width))
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
