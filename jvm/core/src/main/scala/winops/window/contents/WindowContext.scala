package winops.window.contents

import winops.storage.btree.{NumberedBlocks, PagedMap, Pages}
import winops.storage.rows.Rows
import winops.window.changes.ChangeQueue
import winops.window.expression.Evaluator

/** The rows of a group, and what else the windows over these rows are built with. */
private[window] final class WindowContext(
    val rows: Rows,
    val pages: Pages,
    val evaluator: Evaluator,
    val changes: ChangeQueue) {

  /** The rows as windows see them that decide together. */
  lazy val held: HeldRows = new HeldRows(rows)

  def newIndex(): PagedMap = pages.newMap()

  /** The blocks of the group, for one owner. */
  def newBlocks(): NumberedBlocks = pages.newBlocks()

  /** The same context with other rows. */
  def over(others: Rows): WindowContext = new WindowContext(others, pages, evaluator, changes)
}

private[window] object WindowContext {

  /** Makes a part of a window for the rows of a group. */
  type Make[+A] = WindowContext => A
}
