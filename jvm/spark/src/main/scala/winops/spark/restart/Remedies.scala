package winops.spark.restart

/** The advice for differences that a restart does not allow. */
private[restart] object Remedies {
  val history =
    "Supply all rows that the query has read with with_history(stream, table), or restore the former query"

  /** The state store has the types of the keys, and the number of partitions, for good. */
  val another =
    "Start with a new checkpoint and a new output, and supply the rows so far with with_history(stream, table), or restore the former query"

  val former = "Restore the former query, or start with a new checkpoint and a new output"

  val carry =
    "Call keep with on_change=\"carry\" to let the rows that are held enter the new window, supply all rows that the query has read with with_history(stream, table), or restore the former query"
}
