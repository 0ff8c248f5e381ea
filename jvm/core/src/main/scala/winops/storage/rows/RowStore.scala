package winops.storage.rows

import winops.storage.bytes.{ByteReader, ByteWriter}

/** The rows of one group as bytes, appended at the end and found by ordinal.
  *
  * An instance is reused from group to group: [[restore]] or [[clear]] starts the next one.
  */
trait RowStore extends Rows {

  /** How many rows there are. */
  def size: Long

  /** Makes room for a row of `length` bytes and returns where in [[target]] to write it. */
  def append(arrival: Long, length: Int): Int

  /** The array that the position given by the last [[append]] refers to. */
  def target: Array[Byte]

  /** Finds a row; [[rowBytes]], [[rowPosition]] and [[rowLength]] then tell where it is, until
    * the next call to any method.
    */
  def find(ordinal: Long): Unit
  def rowBytes: Array[Byte]
  def rowPosition: Int
  def rowLength: Int

  /** Starts with a group that has no rows. */
  def clear(): Unit

  /** Forgets everything that is kept of the group. */
  def discard(): Unit
  def save(out: ByteWriter): Unit
  def restore(in: ByteReader): Unit
}
