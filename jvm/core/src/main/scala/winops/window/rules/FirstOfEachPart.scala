package winops.window.rules

import winops.storage.btree.PagedMap
import winops.window.expression.{RowKey, WindowView}

/** The first row of each key keeps its place as long as it stays. */
private[window] final class FirstOfEachPart(key: RowKey, index: PagedMap)
    extends OneForEachPart(key, index) {
  override def admits(row: Long, at: Long): Boolean = rowLike(row) == WindowView.NoRow
  override def arrive(row: Long, at: Long, evicted: Evicted): Unit = {
    val _ = put(row)
  }
}
