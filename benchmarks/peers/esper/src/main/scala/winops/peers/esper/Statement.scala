package winops.peers.esper

/** The statements in Esper's language. */
object Statement {

  /** Returns the statement of a job.
    *
    * @param window
    *   `groupwin` has a window for each key, `context` a statement for each; `whole`, for a job
    *   that does not depend on keys, one window for all of them
    */
  def of(window: String, job: String, size: Int): String = {
    val view = if (job == "time") s"#time($size milliseconds)" else s"#length($size)"
    (window, job) match {
      case ("groupwin", "aggregates") =>
        s"select $Means from Trade#groupwin(key)$view group by key"
      case ("groupwin", _) => s"select irstream * from Trade#groupwin(key)$view"
      case ("context", "aggregates") => s"$ByKey select $Means from Trade$view"
      case ("context", _) => s"$ByKey select irstream * from Trade$view"
      case ("whole", "time") => s"select irstream * from Trade$view"
      case _ => throw new IllegalArgumentException(s"no statement for $job with window=$window")
    }
  }

  private val Means =
    "key, seq, price, qty, ts, avg(price) as mean, min(price) as low, max(price) as high"

  private val ByKey = "create context ByKey partition by key from Trade; context ByKey"
}
