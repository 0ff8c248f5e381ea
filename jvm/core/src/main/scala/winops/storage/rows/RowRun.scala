package winops.storage.rows

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}

/** The rows of one entry of a [[RowLog]], in memory.
  *
  * @param withArrival
  *   true if arrival times are stored
  * @param form
  *   predicts the rows of a run
  */
private[rows] final class RowRun(withArrival: Boolean, form: RowForm = RowForm.Unknown) {
  import RowRun._

  val rows = new RowBuffer(withArrival)

  /** The number of the first row; rows before it left before they were stored. */
  private var first = 0L
  private var from = Nowhere

  /** The row number at which the run begins. */
  def start: Long = from

  /** The row number behind the run. */
  def end: Long = first + rows.count

  def has(row: Long): Boolean = row >= first && row < end

  /** The index of a row in [[rows]]. */
  def indexOf(row: Long): Int = (row - first).toInt

  /** Forgets the rows. */
  def clear(): Unit = {
    rows.clear()
    from = Nowhere
    first = 0L
  }

  /** Drops the rows before `row`. */
  def dropBefore(row: Long): Unit = if (row > first) {
    rows.dropFirst((row - first).toInt)
    first = row
  }

  def save(out: ByteWriter): Unit = write(out, rows, rows.count, form, first - from)

  /** Reads the run that begins at `start`.
    *
    * @throws CorruptStateException
    *   if the bytes are not a run
    */
  def restore(start: Long, bytes: Array[Byte]): Unit = {
    clear()
    if (bytes == null || bytes.length == 0 || !isLayout(bytes(0).toInt)) {
      throw new CorruptStateException(
        s"the run of rows from $start on is missing or of another version")
    }
    val in = new ByteReader(bytes)
    val layout = in.byte().toInt
    val length = in.count(RunLengths.Longest.toLong)
    val missing = in.count(length)
    rows.read(in, (length - missing).toInt, form, form.beforeRun, layout)
    in.finish()
    from = start
    first = start + missing
  }
}

private object RowRun {

  val Nowhere = -1L

  private def isLayout(layout: Int): Boolean = layout >= 0 && layout <= RowLayout.Greatest

  /** Writes the first `count` rows of a buffer as a run.
    *
    * @param missing
    *   the number of rows of the run that left before they were stored
    */
  def write(out: ByteWriter, rows: RowBuffer, count: Int, form: RowForm, missing: Long): Unit = {
    val layout = rows.layout(count, form, form.beforeRun)
    out.byte(layout)
    out.number(missing + count)
    out.number(missing)
    rows.write(out, count, form, form.beforeRun, layout)
  }
}
