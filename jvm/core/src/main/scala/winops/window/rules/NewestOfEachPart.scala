package winops.window.rules

import winops.storage.btree.PagedMap
import winops.window.changes.ChangeReason
import winops.window.expression.{RowKey, WindowView}

/** Holds the newest row of each key: a row replaces the previous row of its key. */
private[window] final class NewestOfEachPart(key: RowKey, index: PagedMap)
    extends OneForEachPart(key, index) {
  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    val previous = put(row)
    if (previous != WindowView.NoRow) evicted.add(previous, ChangeReason.Replaced)
  }
}
