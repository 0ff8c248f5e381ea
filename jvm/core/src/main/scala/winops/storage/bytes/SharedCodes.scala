package winops.storage.bytes

/** The codes that packed rows of one length share. Consecutive rows of a group mostly change the
  * same bytes, and would write the same codes again and again. Each shared code keeps the bytes
  * that any of the rows needs, so a row may store a few zeros more than a [[PackedRow]].
  */
private[storage] final class SharedCodes {
  import SharedCodes._

  /** For each word, the bits in which any of the rows differs from the row before it. */
  private var bits = Array.emptyLongArray
  private var codes = Array.emptyByteArray
  private var words = 0
  private var rowSize = 0

  /** Begins with the codes for rows of `length` bytes. */
  def begin(length: Int): Unit = {
    words = PackedRow.wordsOf(length)
    if (codes.length < words) {
      bits = new Array[Long](words)
      codes = new Array[Byte](words)
    }
    java.util.Arrays.fill(bits, 0, words, 0L)
    rowSize = 0
  }

  /** Begins with the rows that were added to other codes. */
  def beginWith(other: SharedCodes, length: Int): Unit = {
    begin(length)
    System.arraycopy(other.bits, 0, bits, 0, words)
  }

  /** Adds a row that the codes have to fit. */
  def add(
      rows: Array[Byte],
      at: Int,
      length: Int,
      before: Array[Byte],
      beforeAt: Int,
      beforeLength: Int): Unit = {
    var word = 0
    while (word < words) {
      val from = word * PackedRow.WordBytes
      bits(word) |= PackedRow.wordFrom(rows, at, length, from) ^
        PackedRow.wordFrom(before, beforeAt, beforeLength, from)
      word += 1
    }
  }

  /** Determines the codes that fit the added rows. */
  def choose(): Unit = {
    rowSize = 0
    var word = 0
    while (word < words) {
      val code = PackedRow.codeOf(bits(word))
      codes(word) = code.toByte
      rowSize += PackedRow.bytesOf(code)
      word += 1
    }
  }

  /** The number of bytes of a row. */
  def rowBytes: Int = rowSize

  /** The number of bytes of the codes. */
  def codeBytes: Int = (words + 1) / 2

  /** Returns true if rows may be stored with the codes. Each row then takes some bytes, so that
    * damaged data cannot claim to have rows without end.
    */
  def areUsable: Boolean = rowSize > 0 && words <= rowSize * MostWordsForByte

  /** Writes the codes. */
  def save(out: ByteWriter): Unit = {
    var word = 0
    while (word < words) {
      val second = if (word + 1 < words) codes(word + 1) << 4 else 0
      out.byte(codes(word) | second)
      word += 2
    }
  }

  /** Reads the codes of rows of `length` bytes.
    *
    * @throws CorruptStateException
    *   if rows cannot be stored with the codes
    */
  def restore(in: ByteReader, length: Int): Unit = {
    if ((PackedRow.wordsOf(length) + 1) / 2 > in.remaining) {
      throw new CorruptStateException(s"the codes of rows of $length bytes are cut off")
    }
    begin(length)
    var word = 0
    var pair = 0
    while (word < words) {
      pair = if ((word & 1) == 0) in.byte() & 0xff else pair >> 4
      codes(word) = (pair & 15).toByte
      rowSize += PackedRow.bytesOf(pair & 15)
      word += 1
    }
    if (!areUsable) throw new CorruptStateException(s"rows of $length bytes in $rowSize bytes")
  }

  /** Packs a row as [[PackedRow.write]] does, without codes. */
  def write(
      rows: Array[Byte],
      at: Int,
      length: Int,
      before: Array[Byte],
      beforeAt: Int,
      beforeLength: Int,
      target: Array[Byte],
      targetAt: Int): Int = {
    var end = targetAt
    var word = 0
    while (word < words) {
      val from = word * PackedRow.WordBytes
      val bits = PackedRow.wordFrom(rows, at, length, from) ^
        PackedRow.wordFrom(before, beforeAt, beforeLength, from)
      end = PackedRow.putWord(target, end, bits, codes(word).toInt)
      word += 1
    }
    end
  }

  /** Unpacks a row as [[PackedRow.read]] does.
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
      before: Array[Byte],
      beforeAt: Int,
      beforeLength: Int): Int = {
    if (rowSize > sourceEnd - sourceAt) PackedRow.cutOff()
    var end = sourceAt
    var word = 0
    while (word < words) {
      val from = word * PackedRow.WordBytes
      val code = codes(word).toInt
      val bits = PackedRow.wordAt(source, end, code)
      Bytes.putLong(
        rows,
        at + from,
        bits ^ PackedRow.wordFrom(before, beforeAt, beforeLength, from))
      end += PackedRow.bytesOf(code)
      word += 1
    }
    end
  }
}

private object SharedCodes {

  /** The most words of a row for each stored byte. */
  val MostWordsForByte = 16
}
