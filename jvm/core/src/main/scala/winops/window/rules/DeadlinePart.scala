package winops.window.rules

import scala.collection.mutable

import winops.policy.Span
import winops.storage.btree.PagedMap
import winops.window.changes.ChangeReason
import winops.window.expression.RowNumber
import winops.window.time.Clock

/** Evicts each row when `span` has passed since the row's own timestamp. A row whose span is over
  * when the row arrives leaves at once.
  */
private[window] final class DeadlinePart(timestamp: RowNumber, span: Span, index: PagedMap)
    extends IndexedPart(index) {
  override def lacksValue(row: Long): Boolean = timestamp.isMissing(row)

  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit =
    if (span.after(timestamp.whole(row)) <= at) evicted.add(row, ChangeReason.Expired)
    else index.put(place(row), Array.emptyByteArray)

  override def due: Long =
    if (index.size == 0) Clock.Never
    else {
      index.first()
      dueOf(index.key)
    }

  override def atDue(due: Long, evicted: EvictedRows): Unit = {
    while (index.size > 0 && { index.first(); dueOf(index.key) <= due }) {
      evicted.add(Ordinals.getLast(index.key), ChangeReason.Expired)
      index.remove()
    }
  }

  override def forget(row: Long): Unit = index.remove(place(row))
  override def holds(row: Long): Boolean = index.contains(place(row))

  override def inOrder: mutable.ArrayBuffer[Long] = Ordinals.all(index, Ordinals.getLast)

  private def dueOf(place: Array[Byte]): Long = span.after(Ordinals.get(place) ^ Long.MinValue)

  private def place(row: Long): Array[Byte] =
    Ordinals.append(Ordinals.bytes(timestamp.whole(row) ^ Long.MinValue), row)
}
