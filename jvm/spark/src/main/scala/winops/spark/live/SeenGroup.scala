package winops.spark.live

/** A large group, with its size in the last micro-batch that reported it.
  *
  * @param key
  *   the values of the group key as text
  * @param rows
  *   the rows that the group held, including rows that wait
  * @param batch
  *   the number of that micro-batch
  */
final case class SeenGroup(key: String, rows: Long, batch: Long)
