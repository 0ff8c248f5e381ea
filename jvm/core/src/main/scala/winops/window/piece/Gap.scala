package winops.window.piece

import winops.terms.Distance
import winops.window.expression.RowNumber

/** Compares the difference of two values with a distance, in the arithmetic of their type. */
private[window] final class Gap(value: RowNumber, distance: Distance) {
  def has(row: Long): Boolean = !value.isMissing(row)

  /** Returns true if the later row's value is more than the distance above the earlier one's. */
  def isExceeded(earlier: Long, later: Long): Boolean = distance match {
    case Distance.Whole(limit) => Gap.exceeds(value.whole(later), value.whole(earlier), limit)
    case Distance.Real(limit) => value.real(later) - value.real(earlier) > limit
  }
}

private[window] object Gap {

  /** Returns true if `later - earlier > limit`, even if the difference overflows; `limit` is not
    * negative.
    */
  def exceeds(later: Long, earlier: Long, limit: Long): Boolean =
    later > earlier && {
      val difference = later - earlier
      difference < 0 || difference > limit
    }
}
