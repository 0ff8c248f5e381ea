package winops.storage.rows

/** Predicts the bytes of stored rows from their columns, so that less of them is stored. Rows are
  * read with the same predictions as they were written with.
  */
trait RowForm {

  /** A row from which the first row of a run differs in few bytes; empty if none is known. */
  def beforeRun: Array[Byte]

  /** The same for the first row in the open group's own value. */
  def beforeValue: Array[Byte]

  /** True if the rows' own times predict their arrival. */
  def hasTimes: Boolean

  /** The number of bytes of a row that [[timeOf]] needs. */
  def leastLength: Int

  /** The time of the row at `at` in milliseconds; only if [[hasTimes]]. */
  def timeOf(bytes: Array[Byte], at: Int): Long
}

object RowForm {

  /** Predicts nothing. */
  val Unknown: RowForm = new RowForm {
    override val beforeRun: Array[Byte] = Array.emptyByteArray
    override def beforeValue: Array[Byte] = beforeRun
    override def hasTimes: Boolean = false
    override def leastLength: Int = 0
    override def timeOf(bytes: Array[Byte], at: Int): Long = 0L
  }
}
