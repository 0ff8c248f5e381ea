package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Reads rows of the open group that wait since earlier micro-batches and are released in this
  * one, in the order in which they are applied.
  */
trait WaitingRows {

  /** The first row that is not taken; null if none is left. Valid until the next call of any
    * method but [[take]].
    */
  def first: UnsafeRow

  /** Takes the first row, which stays valid until the next call of [[first]]. */
  def take(): Unit

  /** Removes the rows, all of which have been taken. */
  def finish(): Unit
}

private[group] object WaitingRows {

  /** A time after all rows, in microseconds. */
  val Never: Long = Long.MaxValue

  /** True if a time is before another; each time is before [[Never]], and [[Never]] itself too.
    */
  def isDue(time: Long, before: Long): Boolean = time < before || before == Never
}

/** Stands for waiting rows of which none is released in this micro-batch. */
object NoWaitingRows extends WaitingRows {
  override def first: UnsafeRow = null
  override def take(): Unit = throw new NoSuchElementException
  override def finish(): Unit = ()
}
