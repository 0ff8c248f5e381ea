package winops.spark.source

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** The state of another query, which a restart replaces by the rows of a table.
  *
  * @param until
  *   the column of the stream, by its place, and the time in microseconds before which the former
  *   query has applied all rows; later ones wait or are still to come. None if the rows of the
  *   table are all that the stream has delivered.
  * @param times
  *   the times of the former query
  * @param waiting
  *   the rows that waited: the columns of the stream, then the order of their arrival, and true
  *   for rows of an earlier table; None if there are none
  */
final case class ReplacedState(
    until: Option[(Int, Long)],
    times: FormerTimes,
    waiting: Option[LogicalPlan])

/** Times of a query that another one replaces.
  *
  * @param passed
  *   the instant in milliseconds up to which timers of all groups have fired or were silent;
  *   `Long.MinValue` if no time has passed. None without a time column.
  * @param ofHistory
  *   the end of an earlier table whose rows may still wait
  */
final case class FormerTimes(passed: Option[Long], ofHistory: Option[Long])
