package winops.conformance

/** Sorts rows by time behind a watermark, and drops late rows.
  *
  * The watermark is the later of two instants: `delay` before the newest row, and the last entry
  * without a row. It moves row by row, so that nothing depends on micro-batches. A row at the
  * watermark is not late. At the end the watermark passes every row.
  */
private[conformance] object Lateness {

  /** The entries in the order in which windows process them: rows that are not late by time, ties
    * in the order of arrival, and movements of the watermark between them.
    */
  def inOrder(entries: Seq[Entry], delay: Long): Seq[Entry] = {
    val ordered = Seq.newBuilder[Entry]
    var waiting = Vector.empty[Entry]
    var watermark = Option.empty[Long]

    def release(until: Long): Unit = {
      val (passed, rest) = waiting.partition(_.at <= until)
      ordered ++= passed.sortBy(_.at)
      waiting = rest
    }

    entries.foreach { entry =>
      val isRow = entry.what.isInstanceOf[Coming.Row]
      val reached = if (isRow) entry.at - delay else entry.at
      if (isRow && watermark.forall(entry.at >= _)) waiting :+= entry
      if (watermark.forall(reached > _)) {
        watermark = Some(reached)
        release(reached)
        ordered += Entry(reached, Coming.Nothing)
      }
      if (!isRow) ordered += entry
    }
    release(Long.MaxValue)
    ordered.result()
  }
}
