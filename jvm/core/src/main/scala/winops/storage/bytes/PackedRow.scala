package winops.storage.bytes

/** Packs rows for storage. Each word of eight bytes is XORed with the same word of the previous
  * row, and leading or trailing zero bytes are left out. Rows of one group are alike, and a state
  * store writes every byte several times.
  *
  * A packed row has a code of four bits for each word, two codes to a byte, followed by the
  * remaining bytes of the words. Codes 0 to 8 mean that many low bytes; codes 9 to 15 mean 16 -
  * code high bytes.
  */
private[storage] object PackedRow {

  /** Number of bytes to reserve for a packed row, including bytes that packing writes behind it.
    */
  def roomFor(length: Int): Long = {
    val words = wordsOf(length).toLong
    (words + 1) / 2 + (words + 1) * WordBytes
  }

  /** Packs `length` bytes of `rows` from `at` on, and returns the end of the packed row in
    * `target`. The previous row has `beforeLength` bytes of `before` from `beforeAt` on.
    */
  def write(
      rows: Array[Byte],
      at: Int,
      length: Int,
      before: Array[Byte],
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
        wordFrom(rows, at, length, from) ^ wordFrom(before, beforeAt, beforeLength, from)
      val code = codeOf(bits)
      end = putWord(target, end, bits, code)
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

  /** Returns the number of bytes that [[write]] writes for the words of a row, without codes. */
  def sizeOfWords(
      rows: Array[Byte],
      at: Int,
      length: Int,
      before: Array[Byte],
      beforeAt: Int,
      beforeLength: Int): Int = {
    val words = wordsOf(length)
    var size = 0
    var word = 0
    while (word < words) {
      val from = word * WordBytes
      val bits =
        wordFrom(rows, at, length, from) ^ wordFrom(before, beforeAt, beforeLength, from)
      size += Math.min(lowBytesOf(bits), highBytesOf(bits))
      word += 1
    }
    size
  }

  /** Unpacks a row of `length` bytes to `at` in `rows`, which has room for one more word. Returns
    * the end of the packed row in `source`.
    *
    * @throws CorruptStateException
    *   if the packed row ends after `sourceEnd`
    */
  def read(
      source: Array[Byte],
      sourceAt: Int,
      sourceEnd: Int,
      rows: Array[Byte],
      at: Int,
      length: Int,
      before: Array[Byte],
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
      val bits = wordAt(source, end, code)
      Bytes.putLong(rows, at + from, bits ^ wordFrom(before, beforeAt, beforeLength, from))
      end += left
      from += WordBytes
      word += 1
    }
    end
  }

  /** Number of bytes of a word, and of the room to keep behind an unpacked row. */
  val WordBytes = 8

  private val LowBytes: Array[Long] =
    Array.tabulate(WordBytes + 1)(n => if (n == WordBytes) -1L else (1L << n * 8) - 1)

  /** The number of words of a row of `length` bytes. */
  private[bytes] def wordsOf(length: Int): Int =
    (length >>> 3) + (if ((length & 7) == 0) 0 else 1)

  private[bytes] def codeOf(bits: Long): Int = codeOf(lowBytesOf(bits), highBytesOf(bits))

  /** The code of a word of which that many low bytes, or that many high bytes, are stored. */
  private[bytes] def codeOf(low: Int, high: Int): Int =
    if (low <= high) low else 2 * WordBytes - high

  private[bytes] def lowBytesOf(bits: Long): Int =
    WordBytes - (java.lang.Long.numberOfLeadingZeros(bits) >>> 3)

  private[bytes] def highBytesOf(bits: Long): Int =
    WordBytes - (java.lang.Long.numberOfTrailingZeros(bits) >>> 3)

  private[bytes] def bytesOf(code: Int): Int =
    if (code > WordBytes) 2 * WordBytes - code else code

  /** Writes the bytes of a word that its code names, and returns their end. Up to eight bytes of
    * the target are overwritten.
    */
  private[bytes] def putWord(target: Array[Byte], at: Int, bits: Long, code: Int): Int = {
    Bytes.putLong(target, at, if (code > WordBytes) bits >>> shiftOf(code) else bits)
    at + bytesOf(code)
  }

  /** Reads a word of which [[putWord]] wrote the bytes. */
  private[bytes] def wordAt(source: Array[Byte], at: Int, code: Int): Long = {
    val left = bytesOf(code)
    val low =
      if (at + WordBytes <= source.length) Bytes.getLong(source, at) & LowBytes(left)
      else bytewise(source, at, left)
    if (code > WordBytes) low << shiftOf(code) else low
  }

  private def shiftOf(code: Int): Int = (code - WordBytes) * 8

  /** The word of a row from an offset on; zeros stand for bytes behind the row's end. */
  private[bytes] def wordFrom(rows: Array[Byte], at: Int, length: Int, from: Int): Long =
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

  private[bytes] def cutOff(): Nothing = throw new CorruptStateException(
    "a stored row is cut off")
}
