package winops.storage.rows

import java.io.{DataInputStream, InputStream}

import winops.storage.bytes.{ByteReader, Bytes, CorruptStateException}

/** Reads the rows that a [[RowBlockWriter]] wrote. Other bytes fail as a
  * [[CorruptStateException]], or as an `EOFException` if the stream ends within a block.
  */
final class RowBlockReader(in: InputStream) {
  private val data = new DataInputStream(in)
  private val header = new Array[Byte](RowBlockWriter.HeaderBytes)
  private var rows = new RowBuffer(withArrival = false)
  private var before = new RowBuffer(withArrival = false)
  private var row = -1

  /** Moves to the next row; returns false after the last. The bytes of the previous row stay in
    * place until the next call.
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
