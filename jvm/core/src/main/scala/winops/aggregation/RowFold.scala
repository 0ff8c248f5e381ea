package winops.aggregation

/** Folds consecutive rows into a summary, oldest to newest, as Spark's own window functions do. A
  * call with the same first row as the last call, and no fewer rows, continues the last summary
  * unless it was given away, cleared, or is changed by being read.
  */
private[aggregation] final class RowFold[S](summaries: Summaries[S]) {
  private var summary = summaries.create()
  private var first = RowFold.None
  private var end = RowFold.None

  /** The summary of the rows from `from` until `until`; valid until the next call. */
  def of(from: Long, until: Long): S = {
    if (from != first || until < end || summaries.changesWhenRead) {
      summaries.clear(summary)
      end = from
    }
    val next = end
    // Adding a row may fail, and only a complete summary may be continued.
    first = RowFold.None
    var row = next
    while (row < until) {
      summaries.add(summary, row)
      row += 1
    }
    first = from
    end = until
    summary
  }

  /** The first folded row, or [[RowFold.None]]. */
  def from: Long = first

  /** The ordinal after the last folded row. */
  def until: Long = end

  /** The summary of the last call of [[of]], or null if that was of other rows. */
  def known(from: Long, until: Long): S =
    if (from == first && until == end) summary else null.asInstanceOf[S]

  /** Continues with a summary of the rows from `from` until `until`, which `read` sets. */
  def resume(from: Long, until: Long, read: S => Unit): Unit = {
    clear()
    read(summary)
    first = from
    end = until
  }

  /** Passes the summary to `exchange`, and reuses the summary that `exchange` returns. */
  def giveAway(exchange: S => S): Unit = {
    clear()
    summary = exchange(summary)
  }

  def clear(): Unit = first = RowFold.None
}

private[aggregation] object RowFold {
  val None: Long = -1L
}
