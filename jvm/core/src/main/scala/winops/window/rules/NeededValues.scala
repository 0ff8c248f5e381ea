package winops.window.rules

import winops.window.expression.RowNumber

/** The values that windows cannot do without. None of the windows admits a row that lacks one, or
  * evicts a row for it.
  */
private[window] final class NeededValues(values: Array[RowNumber]) {

  /** Returns true if the row has all of the values. */
  def areIn(row: Long): Boolean = {
    var i = 0
    while (i < values.length && !values(i).isMissing(row)) i += 1
    i == values.length
  }
}
