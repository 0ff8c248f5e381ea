package winops.window.rules

import winops.window.contents.HeldRows

/** Holds the newest `rows` rows. */
private[window] final class NewestPart(rows: Long, held: HeldRows) extends FrontPart(held) {
  override def arrive(row: Long, at: Long, evicted: Evicted): Unit = {
    super.arrive(row, at, evicted)
    if (count > rows) evictOldest(evicted)
  }
}
