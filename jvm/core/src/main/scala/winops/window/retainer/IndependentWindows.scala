package winops.window.retainer

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.window.changes.ChangeQueue
import winops.window.contents.SharedRows
import winops.window.time.Clock

/** Runs independent windows over rows that are stored once. Each window emits the changes that it
  * would emit alone, under its number and in shared steps. A row is removed when no window needs
  * it.
  */
private[window] final class IndependentWindows(
    windows: Array[SharingWindow],
    rows: Rows,
    changes: ChangeQueue)
    extends Retainer {

  /** The earliest timer of all windows, which is read several times for each that fires. */
  private var firstDue = IndependentWindows.Unknown

  override def due: Long = {
    if (firstDue == IndependentWindows.Unknown) firstDue = earliest()
    firstDue
  }

  private def earliest(): Long = {
    var first = Clock.Never
    var i = 0
    while (i < windows.length) {
      first = Math.min(first, windows(i).retainer.due)
      i += 1
    }
    first
  }

  override def arrive(row: Long, at: Long): Boolean = {
    firstDue = IndependentWindows.Unknown
    var i = 0
    while (i < windows.length) {
      if (!turnOf(i).arrive(row, at)) {
        throw new IllegalStateException(s"window $i refused a row that others have taken")
      }
      i += 1
    }
    true
  }

  override def atDue(due: Long): Unit = each { window =>
    if (window.due <= due) window.atDue(due)
  }

  override def punctuate(): Unit = each(_.punctuate())

  /** Number of rows of the largest window, which includes the rows of the others because all
    * windows end with the newest row.
    */
  override def held: Long = {
    var most = 0L
    var i = 0
    while (i < windows.length) {
      most = Math.max(most, windows(i).retainer.held)
      i += 1
    }
    most
  }

  override def emitContents(): Unit = each(_.emitContents())
  override def emitInserted(): Unit = each(_.emitInserted())

  override def report(kind: Int): Unit = each { window =>
    if (window.held > 0) window.report(kind)
  }

  override def leaveAll(reason: Int): Unit = each(_.leaveAll(reason))

  override def settle(): Unit = {
    var needed = rows.end
    var i = 0
    while (i < windows.length) {
      windows(i).retainer.settle()
      needed = Math.min(needed, windows(i).rows.first)
      i += 1
    }
    rows.release(needed)
    firstDue = IndependentWindows.Unknown
  }

  override def clear(): Unit = {
    firstDue = IndependentWindows.Unknown
    windows.foreach { window =>
      window.rows.clear()
      window.retainer.clear()
    }
  }

  override def save(out: ByteWriter): Unit = windows.foreach { window =>
    window.rows.save(out)
    window.retainer.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    firstDue = IndependentWindows.Unknown
    windows.foreach { window =>
      window.rows.restore(in)
      window.retainer.restore(in)
    }
  }

  private def each(act: Retainer => Unit): Unit = {
    firstDue = IndependentWindows.Unknown
    var i = 0
    while (i < windows.length) {
      act(turnOf(i))
      i += 1
    }
  }

  /** Returns the window with the number, and writes its changes from now on. */
  private def turnOf(number: Int): Retainer = {
    changes.writeWindow(number)
    windows(number).retainer
  }
}

private object IndependentWindows {

  /** Earlier than any timer. */
  private val Unknown = Long.MinValue
}

/** One of several independent windows over the same rows, with its view of the rows. */
private[window] final class SharingWindow(val rows: SharedRows, val retainer: Retainer)
