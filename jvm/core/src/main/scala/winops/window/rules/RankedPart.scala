package winops.window.rules

import scala.collection.mutable

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.changes.ChangeReason

/** A [[BestPart]] with at most one row for each key: a row replaces the previous row of its key.
  */
private[window] final class RankedPart(newest: NewestOfEachPart, best: BestPart) extends Part {
  private val replaced = new EvictedRows(byLast = false)

  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    replaced.clear()
    newest.arrive(row, at, replaced)
    var i = 0
    while (i < replaced.size) {
      evicted.add(replaced(i), ChangeReason.Replaced)
      best.forget(replaced(i))
      i += 1
    }
    val before = evicted.size
    best.arrive(row, at, evicted)
    if (evicted.size > before) newest.forget(evicted(before))
  }

  override def forget(row: Long): Unit = {
    best.forget(row)
    newest.forget(row)
  }

  override def holds(row: Long): Boolean = best.holds(row)
  override def inOrder: mutable.ArrayBuffer[Long] = best.inOrder

  override def clear(): Unit = {
    newest.clear()
    best.clear()
  }

  override def save(out: ByteWriter): Unit = {
    newest.save(out)
    best.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    newest.restore(in)
    best.restore(in)
  }
}
