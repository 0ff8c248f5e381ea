package winops.spark.execution

import org.apache.spark.sql.catalyst.InternalRow

/** Iterates over the output rows of one task of a `keep`. After the last row, the task has the
  * figures that the driver needs.
  */
trait StreamTask extends Iterator[InternalRow] {

  /** The time of the earliest timer that no [[TimerService]] holds; [[Clock.Never]] if none. */
  def earliestDue: Long

  /** The greatest time, in milliseconds, of the rows that still wait after a batch that flushes;
    * `Long.MinValue` if no row waits.
    */
  def lastWaiting: Long
}
