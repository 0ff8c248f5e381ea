package winops.spark.execution

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.storage.btree.{PageMemory, Pages}
import winops.storage.bytes.{ByteReader, ByteWriter, Bytes}

/** The last output rows of each group, in the order in which the groups came first. Rows that do
  * not fit into memory are in a temporary file.
  *
  * @param width
  *   the number of columns of a row
  * @param memory
  *   bounds the rows in memory
  */
private[execution] final class LatestRows(width: Int, memory: PageMemory) {
  private val segments = new SpilledSegments
  private val pages = new Pages(segments, memory)
  private val places = pages.newMap()
  private val rowsAt = pages.newMap()
  private val writer = new ByteWriter
  private var group: UnsafeRow = _

  /** Begins the rows of a group, which replace its earlier ones. */
  def begin(group: UnsafeRow): Unit = {
    this.group = group
    writer.clear()
  }

  def add(row: UnsafeRow): Unit = writer.block(row.getBytes)

  /** Ends the rows of the group. */
  def end(): Unit = {
    val key = group.getBytes
    val known = places.get(key)
    val place = if (known == null) placeOf(places.size) else known
    if (known == null) places.put(key, place)
    rowsAt.put(place, writer.toArray)
  }

  /** The rows of all groups. Nothing may be added any more. */
  def rows: Iterator[UnsafeRow] =
    Iterator.iterate(rowsAt.first())(_ => rowsAt.next()).takeWhile(identity).flatMap { _ =>
      rowsOf(new ByteReader(rowsAt.value))
    }

  private def rowsOf(in: ByteReader): Iterator[UnsafeRow] =
    Iterator.continually(in).takeWhile(_.remaining > 0).map { in =>
      val row = new UnsafeRow(width)
      val bytes = in.block()
      row.pointTo(bytes, bytes.length)
      row
    }

  private def placeOf(number: Long): Array[Byte] = {
    val place = new Array[Byte](java.lang.Long.BYTES)
    Bytes.putLong(place, 0, java.lang.Long.reverseBytes(number))
    place
  }
}
