package winops.storage.rows

import java.io.OutputStream

import winops.storage.bytes.{ByteWriter, Bytes}

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
