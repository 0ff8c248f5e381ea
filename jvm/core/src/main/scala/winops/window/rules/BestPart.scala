package winops.window.rules

import scala.collection.mutable

import winops.storage.btree.PagedMap
import winops.window.changes.ChangeReason
import winops.window.expression.RowKey

/** Holds the `rows` first rows in the order of a sort key; of equal rows, the newest. */
private[window] final class BestPart(rows: Long, sortKey: RowKey, index: PagedMap)
    extends IndexedPart(index) {
  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    val arriving = place(row)
    if (index.size == rows && isBehindAll(arriving)) evicted.add(row, ChangeReason.Displaced)
    else {
      index.put(arriving, NoBytes)
      if (index.size > rows) {
        index.last()
        evicted.add(rowAt(index.key), ChangeReason.Displaced)
        index.remove()
      }
    }
  }

  override def forget(row: Long): Unit = index.remove(place(row))
  override def holds(row: Long): Boolean = index.contains(place(row))

  override def inOrder: mutable.ArrayBuffer[Long] =
    Ordinals.all(index, rowAt)

  private def isBehindAll(place: Array[Byte]): Boolean =
    index.last() && index.isBefore(place)

  private def rowAt(place: Array[Byte]): Long = Long.MaxValue - Ordinals.getLast(place)

  // The newer of equal rows sorts first, so the last entry is the oldest of the worst rows.
  private def place(row: Long): Array[Byte] =
    Ordinals.append(sortKey.of(row), Long.MaxValue - row)

  private val NoBytes = Array.emptyByteArray
}
