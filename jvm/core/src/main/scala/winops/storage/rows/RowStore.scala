package winops.storage.rows

import winops.storage.bytes.{ByteReader, ByteWriter}

/** Stores the rows of one group as bytes. Rows are appended at the end and found by ordinal.
  *
  * An instance is reused from group to group: [[restore]] or [[clear]] starts the next group.
  */
trait RowStore extends Rows {

  /** Number of rows. */
  def size: Long

  /** Adds a row of `length` bytes and returns the position in [[target]] at which to write it. */
  def append(arrival: Long, length: Int): Int

  /** The array that the position of the last [[append]] refers to. */
  def target: Array[Byte]

  /** Finds a row. [[rowBytes]], [[rowPosition]] and [[rowLength]] then give the row's place until
    * the next call of another method.
    */
  def find(ordinal: Long): Unit
  def rowBytes: Array[Byte]
  def rowPosition: Int
  def rowLength: Int

  /** Gives the next row that is appended this ordinal, which is not less than [[end]]. Rows
    * without holes allow this only while there is no row.
    */
  def skipTo(ordinal: Long): Unit

  /** Starts with a group that has no rows. */
  def clear(): Unit

  /** Removes all stored state of the group. */
  def discard(): Unit
  def save(out: ByteWriter): Unit
  def restore(in: ByteReader): Unit
}
