package winops.spark.execution

import org.apache.spark.sql.catalyst.InternalRow

/** One task of a `keep`: gives the output rows, and after the last one what the driver has to
  * know.
  */
trait StreamTask extends Iterator[InternalRow] {

  /** The time of the earliest timer that no [[TimerService]] holds. */
  def earliestDue: Long

  /** The greatest time, in milliseconds, of the rows that wait after a batch that flushes;
    * `Long.MinValue` if none does.
    */
  def lastWaiting: Long
}
