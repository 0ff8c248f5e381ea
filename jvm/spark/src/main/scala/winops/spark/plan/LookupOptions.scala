package winops.spark.plan

/** The options of the output `lookup`, in which rows of another input read the windows.
  *
  * @param before
  *   true if such a row reads the windows before the rows of its own time are applied
  * @param isInner
  *   true if a row has no output for which all windows are empty
  * @param contents
  *   the name of the column with the rows of the window, as an array
  * @param time
  *   the name of the time column of these rows
  * @param by
  *   the columns that fill the columns of the windows in such a row, sorted: its time and its
  *   group key, each behind the column that it fills
  * @param join
  *   the as-of join that reads the windows; none for the rows of a lookup
  * @param looksAhead
  *   true if such a row reads the windows later than at its own time, so that this may be before
  *   the watermark in the output
  */
final case class LookupOptions(
    before: Boolean = false,
    isInner: Boolean = false,
    contents: Option[String] = None,
    time: Option[String] = None,
    by: Seq[String] = Nil,
    join: Option[JoinForm] = None,
    looksAhead: Boolean = false) {

  /** True if an as-of join reads the windows. */
  def ofJoin: Boolean = join.isDefined
}
