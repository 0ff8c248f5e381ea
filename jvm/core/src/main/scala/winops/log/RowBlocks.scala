package winops.log

import java.io.{DataInputStream, InputStream, OutputStream}

/** Writes rows to a stream, packed as [[PackedRow]] packs them, a block of rows at a time.
  *
  * @param packed
  *   where a block is packed, which others that write in the same thread may use too
  */
final class RowBlockWriter(out: OutputStream, packed: ByteWriter) {
  import RowBlockWriter._

  private var rows = new RowBuffer(withArrival = false)
  private val header = new Array[Byte](HeaderBytes)
  private var bytes = 0L

  /** Makes room for a row of `length` bytes and returns the position in [[target]] at which to
    * write it; when that is done, [[endRow]] is to be called.
    */
  def append(length: Int): Int = {
    bytes += length
    rows.append(0L, length)
  }

  /** The array that the position of the last [[append]] refers to. */
  def target: Array[Byte] = rows.bytes

  /** The row has been written; a full block goes to the stream. */
  def endRow(): Unit = if (bytes >= BlockBytes) flush()

  /** Writes what has been appended. */
  def flush(): Unit = if (rows.count > 0) {
    packed.clear()
    rows.write(packed, rows.count)
    Bytes.putInt(header, 0, rows.count)
    Bytes.putInt(header, Integer.BYTES, packed.end)
    out.write(header)
    out.write(packed.roomFor(0L), 0, packed.end)
    // The room that a giant row took is not kept in each of a shuffle's partitions.
    if (rows.bytes.length > MaxKeptBytes) rows = new RowBuffer(withArrival = false)
    rows.clear()
    bytes = 0L
  }
}

private object RowBlockWriter {

  /** How many rows there are, and in how many bytes. */
  val HeaderBytes: Int = 2 * Integer.BYTES

  /** A shuffle has as many blocks open as it has partitions. */
  private val BlockBytes = 1 << 15
  private val MaxKeptBytes = BlockBytes * 4
}

/** Reads what a [[RowBlockWriter]] wrote; anything else is a [[CorruptStateException]], or an
  * `EOFException` if it ends within a block.
  */
final class RowBlockReader(in: InputStream) {
  private val data = new DataInputStream(in)
  private val header = new Array[Byte](RowBlockWriter.HeaderBytes)
  private var rows = new RowBuffer(withArrival = false)
  private var before = new RowBuffer(withArrival = false)
  private var row = -1

  /** Moves to the next row; false after the last. What the last one was stays where it is, until
    * the next call.
    */
  def next(): Boolean = {
    row += 1
    row < rows.count || readBlock()
  }

  /** The array that holds the row. */
  def bytes: Array[Byte] = rows.bytes
  def position: Int = rows.position(row)
  def length: Int = rows.length(row)

  private def readBlock(): Boolean = {
    val first = data.read()
    if (first >= 0) {
      header(0) = first.toByte
      data.readFully(header, 1, header.length - 1)
      val packed = new Array[Byte](sizeOf(Bytes.getInt(header, Integer.BYTES)))
      data.readFully(packed)
      val reader = new ByteReader(packed)
      val other = before
      before = rows
      rows = other
      rows.read(reader, sizeOf(Bytes.getInt(header, 0)))
      reader.finish()
      row = 0
    }
    first >= 0
  }

  private def sizeOf(number: Int): Int =
    if (number > 0) number
    else throw new CorruptStateException(s"a block of rows with a size of $number")
}
