package winops.window.rules

import winops.storage.btree.PagedMap
import winops.window.expression.{RowKey, WindowView}

/** A row takes the place of the previous row of its key. */
private[window] final class NewestOfEachPart(key: RowKey, index: PagedMap)
    extends OneForEachPart(key, index) {
  override def arrive(row: Long, at: Long, evicted: Evicted): Unit = {
    val previous = put(row)
    if (previous != WindowView.NoRow) evicted.add(previous)
  }
}
