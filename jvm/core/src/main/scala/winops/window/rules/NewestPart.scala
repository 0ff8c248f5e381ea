package winops.window.rules

import winops.window.contents.HeldRows

private[window] final class NewestPart(rows: Long, held: HeldRows) extends FrontPart(held) {
  override def arrive(row: Long, at: Long, letGo: LetGo): Unit = {
    super.arrive(row, at, letGo)
    if (count > rows) letGoOfOldest(letGo)
  }
}
