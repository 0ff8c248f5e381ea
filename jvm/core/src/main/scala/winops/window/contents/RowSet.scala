package winops.window.contents

import java.util.Arrays

import scala.collection.mutable

import winops.window.expression.WindowView

/** Rows in the order of their insertion, each of them once. Most often there is one. */
private[window] final class RowSet {
  private var rows = new Array[Long](RowSet.Few)
  private var count = 0
  // Where each row is, once there are too many to look at all of them.
  private var placeOf = mutable.LongMap.empty[Int]

  def size: Int = count

  /** A row, or [[WindowView.NoRow]] in the place of one that was added again. */
  def apply(index: Int): Long = rows(index)

  def contains(row: Long): Boolean = indexOf(row) >= 0

  /** Adds a row behind the others; false if it is there, and stays where it is. */
  def add(row: Long): Boolean = {
    val isNew = !contains(row)
    if (isNew) append(row)
    isNew
  }

  /** Adds a row behind the others, or moves it there. */
  def addLast(row: Long): Unit = {
    val place = indexOf(row)
    if (place >= 0) rows(place) = WindowView.NoRow
    append(row)
  }

  /** Does something with each row, the oldest first, and forgets them all. */
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
