package winops.spark.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.internal.{GroupSize, GroupSizes}

/** Finds the groups with the most rows among those that a task processes. The cost of a group is
  * a comparison; the memory is that of a few keys.
  *
  * @param limit
  *   the number of groups whose keys are kept; with 0, only the number of rows of the largest
  *   group is known
  */
final class LargestGroups(limit: Int) {
  private val keys = new Array[UnsafeRow](limit)
  private val rowsOf = new Array[Long](limit)
  private var count = 0
  private var largest = 0L

  /** Takes the number of rows of a group into account; the key is copied if it is kept. A group
    * may be given repeatedly, and counts with its greatest number.
    */
  def add(key: UnsafeRow, rows: Long): Unit = {
    if (rows > largest) largest = rows
    if (rows > 0 && limit > 0 && (count < limit || rows > rowsOf(count - 1))) insert(key, rows)
  }

  /** The sizes that were found.
    *
    * @param textOf
    *   the text of a group key
    */
  def sizes(textOf: UnsafeRow => String): GroupSizes =
    GroupSizes(largest, Seq.tabulate(count)(i => GroupSize(textOf(keys(i)), rowsOf(i))))

  private def insert(key: UnsafeRow, rows: Long): Unit = {
    val known = keys.indexWhere(_ == key)
    if (known < 0 || rowsOf(known) < rows) {
      var i =
        if (known >= 0) known
        else {
          if (count < limit) count += 1
          count - 1
        }
      while (i > 0 && rowsOf(i - 1) < rows) {
        keys(i) = keys(i - 1)
        rowsOf(i) = rowsOf(i - 1)
        i -= 1
      }
      keys(i) = key.copy()
      rowsOf(i) = rows
    }
  }
}
