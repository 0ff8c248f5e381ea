package winops.spark.input

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The input rows of a task, one by one in the order of their arrival. */
trait ArrivingRows {

  /** Waits for a row, and returns true if there is one before the clock reaches an instant.
    * Without a limit, it returns false only after the last row.
    *
    * @param until
    *   the instant in milliseconds; [[winops.window.time.Clock.Never]] for no limit
    */
  def await(until: Long): Boolean

  /** True after the last row. */
  def isEnded: Boolean

  /** Takes the row that [[await]] has found; it is valid until the next call of [[await]]. */
  def next(): UnsafeRow

  /** The time at which the row of [[next]] arrived in the task, by `System.nanoTime`. */
  def arrivedAt: Long
}

object ArrivingRows {

  /** The rows of an iterator that is read by the task itself. It waits for the next row without a
    * limit.
    */
  def direct(rows: Iterator[UnsafeRow]): ArrivingRows = new Direct(rows)

  private final class Direct(rows: Iterator[UnsafeRow]) extends ArrivingRows {
    private var ended = false
    private var isFound = false
    private var foundAt = 0L

    override def await(until: Long): Boolean = {
      if (!isFound) {
        isFound = rows.hasNext
        ended = !isFound
        foundAt = System.nanoTime
      }
      isFound
    }

    override def isEnded: Boolean = ended
    override def arrivedAt: Long = foundAt

    override def next(): UnsafeRow = {
      isFound = false
      rows.next()
    }
  }
}
