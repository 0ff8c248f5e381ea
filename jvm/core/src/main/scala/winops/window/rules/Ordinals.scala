package winops.window.rules

import java.util.Arrays

import scala.collection.mutable

import winops.storage.btree.PagedMap
import winops.storage.bytes.Bytes
import winops.window.expression.WindowView

/** Encodes numbers as bytes. The bytes of non-negative numbers compare as the numbers do. */
private[window] object Ordinals {
  def bytes(number: Long): Array[Byte] = append(Array.emptyByteArray, number)

  /** The bytes of `front`, followed by the number. */
  def append(front: Array[Byte], number: Long): Array[Byte] = {
    val bytes = Arrays.copyOf(front, front.length + java.lang.Long.BYTES)
    Bytes.putLong(bytes, front.length, java.lang.Long.reverseBytes(number))
    bytes
  }

  /** The number at the start of the bytes; [[WindowView.NoRow]] if `bytes` is null. */
  def get(bytes: Array[Byte]): Long =
    if (bytes == null) WindowView.NoRow else at(bytes, 0)

  /** The number at the end of the bytes. */
  def getLast(bytes: Array[Byte]): Long = at(bytes, bytes.length - java.lang.Long.BYTES)

  /** The rows of all entries in key order.
    *
    * @param row
    *   reads the row's ordinal from a key
    */
  def all(index: PagedMap, row: Array[Byte] => Long): mutable.ArrayBuffer[Long] = {
    val rows = mutable.ArrayBuffer.empty[Long]
    var more = index.first()
    while (more) {
      rows += row(index.key)
      more = index.next()
    }
    rows
  }

  private def at(bytes: Array[Byte], place: Int): Long = {
    if (place < 0 || bytes.length - place < java.lang.Long.BYTES) {
      throw new winops.storage.bytes.CorruptStateException("a stored index entry is too short")
    }
    java.lang.Long.reverseBytes(Bytes.getLong(bytes, place))
  }
}
