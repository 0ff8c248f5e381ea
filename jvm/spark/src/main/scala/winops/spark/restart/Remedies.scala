package winops.spark.restart

/** The advice for differences that a restart does not allow. */
private[restart] object Remedies {
  private val table = "with_history(stream, table)"
  private val supply =
    s"supply all rows that the query has read, those of an earlier table included, with $table"

  private val renew =
    s"start with a new checkpoint, a new output and $table, because a table supplies only the first operator above it"

  val history = s"${supply.capitalize}, or restore the former query"

  /** The state store has the types of the keys, and the number of partitions, for good. */
  val another =
    s"Start with a new checkpoint, a new output, $table of the rows so far and a source that starts after them, or restore the former query"

  val former = "Restore the former query, or start with a new checkpoint and a new output"

  val carry =
    s"Call keep with on_change=\"carry\" to let the rows that are held enter the new window, $supply, or restore the former query"

  /** The advice for an operator above another one, whose output has to have the rows of a table.
    */
  def ofUpper(remedy: String): String = remedy
    .replace(supply, renew)
    .replace(supply.capitalize, renew.capitalize)
    .replace(table, "with_history(stream, table, emit=\"all\")")
}
