package winops.window.rules

import winops.storage.btree.PagedMap
import winops.window.expression.{RowKey, WindowView}

/** Holds one row for each key: the first or the newest. */
private[window] abstract class OneForEachPart(key: RowKey, index: PagedMap)
    extends IndexedPart(index) {

  /** The held row with the same key, or `WindowView.NoRow`. */
  protected final def rowLike(row: Long): Long = Ordinals.get(index.get(key.of(row)))

  /** Stores the row as the row of its key, and returns the previous one. */
  protected final def put(row: Long): Long =
    Ordinals.get(index.put(key.of(row), Ordinals.bytes(row)))

  /** Moves a row to the key of the row `values`, and returns the row that had this key. */
  protected final def move(row: Long, values: Long): Long = {
    val (from, to) = (key.of(row), key.of(values))
    if (java.util.Arrays.equals(from, to)) WindowView.NoRow
    else {
      index.remove(from)
      Ordinals.get(index.put(to, Ordinals.bytes(row)))
    }
  }

  override def holds(row: Long): Boolean = rowLike(row) == row
  override def forget(row: Long): Unit = if (holds(row)) index.remove(key.of(row))
}
