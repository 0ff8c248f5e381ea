package winops.storage.rows

import java.io.OutputStream

import winops.storage.bytes.{ByteWriter, Bytes}

/** Writes rows to a stream in blocks, packed by [[PackedRow]].
  *
  * @param out
  *   the target stream
  * @param packed
  *   buffer for a packed block; other writers of the same thread may share it
  */
final class RowBlockWriter(out: OutputStream, packed: ByteWriter) {
  import RowBlockWriter._

  private var rows = new RowBuffer(withArrival = false)
  private val header = new Array[Byte](HeaderBytes)
  private var bytes = 0L

  /** Adds a row of `length` bytes and returns the position in [[target]] at which to write it.
    * The caller then calls [[endRow]].
    */
  def append(length: Int): Int = {
    bytes += length
    rows.append(0L, length)
  }

  /** The array that the position of the last [[append]] refers to. */
  def target: Array[Byte] = rows.bytes

  /** Ends the row; writes the block to the stream if it is full. */
  def endRow(): Unit = if (bytes >= BlockBytes) flush()

  /** Writes the appended rows to the stream. */
  def flush(): Unit = if (rows.count > 0) {
    packed.clear()
    rows.write(packed, rows.count)
    Bytes.putInt(header, 0, rows.count)
    Bytes.putInt(header, Integer.BYTES, packed.end)
    out.write(header)
    out.write(packed.roomFor(0L), 0, packed.end)
    // Each of a shuffle's partitions has a writer, so the room of a giant row is given back.
    if (rows.bytes.length > MaxKeptBytes) rows = new RowBuffer(withArrival = false)
    rows.clear()
    bytes = 0L
  }
}

private object RowBlockWriter {

  /** The header of a block: its number of rows and of packed bytes. */
  val HeaderBytes: Int = 2 * Integer.BYTES

  /** Blocks are small because a shuffle has one open block for each partition. */
  private val BlockBytes = 1 << 15
  private val MaxKeptBytes = BlockBytes * 4
}
