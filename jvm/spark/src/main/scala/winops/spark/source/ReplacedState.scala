package winops.spark.source

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** The state of another query, which a restart replaces by the rows of a table.
  *
  * @param until
  *   the column of the stream, by its place, and the time in microseconds before which the former
  *   query has applied all rows; later ones wait or are still to come. None if the rows of the
  *   table are all that the stream has delivered.
  * @param passed
  *   the instant in milliseconds up to which timers of the former query have fired
  * @param waiting
  *   the rows that waited: the columns of the stream, then the order of their arrival, and true
  *   for rows of an earlier table; None if there are none
  */
final case class ReplacedState(
    until: Option[(Int, Long)],
    passed: Option[Long],
    waiting: Option[LogicalPlan])
