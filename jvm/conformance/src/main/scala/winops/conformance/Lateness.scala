package winops.conformance

/** Puts rows in time order behind a watermark, and drops those that come after it.
  *
  * The watermark is `delay` behind the newest row, or at the latest entry without a row where
  * that is later; it is judged row by row, so that nothing depends on batches. A row at the
  * watermark is not late. At the end the watermark passes every row.
  */
private[conformance] object Lateness {

  /** The entries as the windows see them: rows that are not late in time order, ties in the order
    * in which they came, and between them how far the watermark is.
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
