package winops.window.single

import winops.storage.rows.Rows
import winops.window.changes.Steps

/** Holds the newest rows. When the window holds `excess` rows more than `count`, the `excess`
  * oldest rows are evicted together.
  */
private[window] final class KeepingNewest(count: Long, excess: Long, rows: Rows, steps: Steps)
    extends FrontRetainer(rows, steps) {
  override def arrive(row: Long, at: Long): Boolean = {
    steps.insert(row, row + 1)
    if (size >= count + excess) removeUntil(row + 1 - count)
    true
  }
}
