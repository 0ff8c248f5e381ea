package winops.window.rules

import winops.storage.btree.PagedMap
import winops.window.expression.{RowKey, WindowView}

/** Holds the first row of each key, and admits no other row of the key while that row is held. */
private[window] final class FirstOfEachPart(key: RowKey, index: PagedMap)
    extends OneForEachPart(key, index) {
  override def admits(row: Long, at: Long): Boolean = rowLike(row) == WindowView.NoRow
  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    val _ = put(row)
  }
}
