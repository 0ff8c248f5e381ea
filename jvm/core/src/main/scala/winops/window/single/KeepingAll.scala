package winops.window.single

import winops.storage.rows.Rows
import winops.window.changes.{ChangeReason, Steps}

/** Retains every row; none is evicted. */
private[window] final class KeepingAll(rows: Rows, steps: Steps)
    extends FrontRetainer(rows, steps) {
  override def arrive(row: Long, at: Long): Boolean = {
    steps.insert(row, row + 1, ChangeReason.Arrived)
    true
  }
}
