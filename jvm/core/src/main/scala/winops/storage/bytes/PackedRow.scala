package winops.storage.bytes

/** Rows as they are stored: word by word of eight bytes, each as what differs from the same word
  * of the row before, without the bytes that are zero then. Rows of one group are alike, and a
  * state store pays for every byte several times over.
  *
  * A row is a code of four bits for each of its words, two to a byte, and then the bytes that are
  * left of each word: of code 0 to 8 that many low ones, of code 9 to 15 the 16 - code high ones.
  */
private[storage] object PackedRow {

  /** How many bytes a packed row may take, those that are written behind it included. */
  def roomFor(length: Int): Long = {
    val words = wordsOf(length).toLong
    (words + 1) / 2 + (words + 1) * WordBytes
  }

  /** Packs `length` bytes from `at` on of `rows`, with the row before at `beforeAt`, which is of
    * `beforeLength` bytes. Returns where the packed row ends.
    */
  def write(
      rows: Array[Byte],
      at: Int,
      length: Int,
      beforeAt: Int,
      beforeLength: Int,
      target: Array[Byte],
      targetAt: Int): Int = {
    val words = wordsOf(length)
    var codeAt = targetAt
    var end = targetAt + (words + 1) / 2
    var from = 0
    var word = 0
    while (word < words) {
      val bits =
        wordFrom(rows, at, length, from) ^ wordFrom(rows, beforeAt, beforeLength, from)
      val code = codeOf(bits)
      Bytes.putLong(target, end, if (code > WordBytes) bits >>> shiftOf(code) else bits)
      end += bytesOf(code)
      if ((word & 1) == 0) target(codeAt) = code.toByte
      else {
        target(codeAt) = (target(codeAt) | code << 4).toByte
        codeAt += 1
      }
      from += WordBytes
      word += 1
    }
    end
  }

  /** Unpacks a row of `length` bytes to `at` in `rows`, which has room for one word more. Returns
    * where in `source` it ended; what is cut off before `sourceEnd` is a
    * [[CorruptStateException]].
    */
  def read(
      source: Array[Byte],
      sourceAt: Int,
      sourceEnd: Int,
      rows: Array[Byte],
      at: Int,
      length: Int,
      beforeAt: Int,
      beforeLength: Int): Int = {
    val words = wordsOf(length)
    var codeAt = sourceAt
    var end = sourceAt + (words + 1) / 2
    if (end > sourceEnd) cutOff()
    var from = 0
    var word = 0
    while (word < words) {
      val code = if ((word & 1) == 0) source(codeAt) & 15 else (source(codeAt) >> 4) & 15
      codeAt += word & 1
      val left = bytesOf(code)
      if (end + left > sourceEnd) cutOff()
      val low =
        if (end + WordBytes <= source.length) Bytes.getLong(source, end) & LowBytes(left)
        else bytewise(source, end, left)
      val bits = if (code > WordBytes) low << shiftOf(code) else low
      Bytes.putLong(rows, at + from, bits ^ wordFrom(rows, beforeAt, beforeLength, from))
      end += left
      from += WordBytes
      word += 1
    }
    end
  }

  /** How many bytes to have free behind an unpacked row. */
  val WordBytes = 8

  private val LowBytes: Array[Long] =
    Array.tabulate(WordBytes + 1)(n => if (n == WordBytes) -1L else (1L << n * 8) - 1)

  private def wordsOf(length: Int): Int = (length >>> 3) + (if ((length & 7) == 0) 0 else 1)

  private def codeOf(bits: Long): Int = {
    val low = WordBytes - (java.lang.Long.numberOfLeadingZeros(bits) >>> 3)
    val high = WordBytes - (java.lang.Long.numberOfTrailingZeros(bits) >>> 3)
    if (low <= high) low else 2 * WordBytes - high
  }

  private def bytesOf(code: Int): Int = if (code > WordBytes) 2 * WordBytes - code else code

  private def shiftOf(code: Int): Int = (code - WordBytes) * 8

  /** The word of a row; zeros stand for what is behind the row's end. */
  private def wordFrom(rows: Array[Byte], at: Int, length: Int, from: Int): Long =
    if (from + WordBytes <= length) Bytes.getLong(rows, at + from)
    else if (from >= length) 0L
    else bytewise(rows, at + from, length - from)

  private def bytewise(bytes: Array[Byte], at: Int, count: Int): Long = {
    var bits = 0L
    var i = count - 1
    while (i >= 0) {
      bits = bits << 8 | bytes(at + i) & 0xffL
      i -= 1
    }
    bits
  }

  private def cutOff(): Nothing = throw new CorruptStateException("a stored row is cut off")
}
