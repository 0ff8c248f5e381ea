package winops.text.esper

/** The flow control of a batch by time, which says how the batch behaves without rows.
  *
  * @param isForced
  *   true if an interval without rows is emitted too
  * @param isEager
  *   true if intervals begin before the first row
  */
private[esper] final case class Flow(isForced: Boolean, isEager: Boolean)

private[esper] object Flow {
  val Plain: Flow = Flow(isForced = false, isEager = false)

  val Keywords: Set[String] = Set("FORCE_UPDATE", "START_EAGER")

  /** Esper: START_EAGER implies FORCE_UPDATE. */
  def of(keywords: Set[String]): Written[Flow] = {
    val isEager = keywords("START_EAGER")
    val keyword = if (isEager) Some("START_EAGER") else keywords.headOption
    Written(Flow(keyword.isDefined, isEager), keyword.map(word => s"'$word'").toSeq)
  }
}
