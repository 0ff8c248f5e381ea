package winops.aggregation

/** Folds consecutive rows into a summary, oldest to newest, as Spark's own window functions do.
  * Rows behind those of the last call are added to what is there.
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
    // Only complete summaries are continued: adding a row may fail.
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

  /** The first of the rows, or [[RowFold.None]]. */
  def from: Long = first

  /** The row after the last. */
  def until: Long = end

  /** Gives the summary away for the one that `exchange` returns, which is overwritten. */
  def giveAway(exchange: S => S): Unit = {
    clear()
    summary = exchange(summary)
  }

  def clear(): Unit = first = RowFold.None
}

private[aggregation] object RowFold {
  val None: Long = -1L
}
