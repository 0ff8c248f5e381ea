package winops.spark.internal

/** A group and the number of rows that it holds.
  *
  * @param key
  *   the values of the group key as text, shortened to [[GroupSizes.MaxKey]] characters
  * @param rows
  *   the number of rows, including rows that wait
  */
final case class GroupSize(key: String, rows: Long)
