package winops.text.esper

/** Esper: how a batch of time goes on when there are no rows.
  *
  * @param isForced
  *   whether an interval without rows is told too
  * @param isEager
  *   whether intervals begin before the first row
  */
private[esper] final case class Flow(isForced: Boolean, isEager: Boolean)

private[esper] object Flow {
  val Plain: Flow = Flow(isForced = false, isEager = false)

  val Keywords: Set[String] = Set("FORCE_UPDATE", "START_EAGER")

  /** Esper: START_EAGER implies FORCE_UPDATE. */
  def of(keywords: Set[String]): Written[Flow] = {
    val isEager = keywords("START_EAGER")
    val told = if (isEager) Some("START_EAGER") else keywords.headOption
    Written(Flow(told.isDefined, isEager), told.map(word => s"'$word'").toSeq)
  }
}
