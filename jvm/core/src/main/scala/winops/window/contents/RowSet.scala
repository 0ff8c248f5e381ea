package winops.window.contents

import java.util.Arrays

import scala.collection.mutable

import winops.window.expression.WindowView

/** A set of row ordinals in the order of their addition. Most often the set has one row. */
private[window] final class RowSet {
  private var rows = new Array[Long](RowSet.Few)
  private var count = 0
  // Index of each row, used from `Few` + 1 rows on, when a linear search would cost more.
  private var placeOf = mutable.LongMap.empty[Int]

  def size: Int = count

  /** The row at an index, or [[WindowView.NoRow]] if [[addLast]] has moved the row behind. */
  def apply(index: Int): Long = rows(index)

  def contains(row: Long): Boolean = indexOf(row) >= 0

  /** Appends a row. Returns false, and leaves the row at its place, if the set contains it. */
  def add(row: Long): Boolean = {
    val isNew = !contains(row)
    if (isNew) append(row)
    isNew
  }

  /** Appends a row, or moves it to the end if the set contains it. */
  def addLast(row: Long): Unit = {
    val place = indexOf(row)
    if (place >= 0) rows(place) = WindowView.NoRow
    append(row)
  }

  /** Calls `each` for every row, oldest first, and empties the set. */
  def drainInOrder(each: Long => Unit): Unit = {
    if (count > 1) Arrays.sort(rows, 0, count)
    var i = 0
    while (i < count) {
      each(rows(i))
      i += 1
    }
    clear()
  }

  def clear(): Unit = {
    if (count > RowSet.Few) placeOf = mutable.LongMap.empty
    count = 0
  }

  private def indexOf(row: Long): Int =
    if (count > RowSet.Few) placeOf.getOrElse(row, -1)
    else {
      var i = count - 1
      while (i >= 0 && rows(i) != row) i -= 1
      i
    }

  private def append(row: Long): Unit = {
    if (count == rows.length) rows = Arrays.copyOf(rows, count * 2)
    rows(count) = row
    count += 1
    if (count == RowSet.Few + 1) (0 until count).foreach(i => placeOf.update(rows(i), i))
    else if (count > RowSet.Few) placeOf.update(row, count - 1)
  }
}

private[window] object RowSet {
  val Few = 8
}
