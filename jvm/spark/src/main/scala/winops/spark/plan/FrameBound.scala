package winops.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, SortOrder, TimestampAddInterval, TimestampAddYMInterval}
import org.apache.spark.sql.types.YearMonthIntervalType
import org.apache.spark.unsafe.types.CalendarInterval

/** A boundary of the frame of a window function, relative to the current row.
  *
  * @param needsFollowing
  *   true if the boundary may lie behind the current row and its peers
  */
sealed abstract class FrameBound(val needsFollowing: Boolean) extends Serializable

object FrameBound {

  /** The sort keys by which rows are equal, if these are the first ones of more. */
  def textOfKeys(keys: Int): String = s" (SORT KEYS: $keys)"

  private val MicrosPerDay = 24L * 60 * 60 * 1000000

  /** More days than a change of the clock and different months move a boundary. */
  private val DaysOfClockChanges = 3L

  /** The start of the partition. */
  case object Unbounded extends FrameBound(needsFollowing = false)

  /** The row `offset` rows behind the current row, or before it if the number is negative. */
  final case class ByRows(offset: Int) extends FrameBound(offset > 0)

  /** The rows with the order values of the current row.
    *
    * @param keys
    *   the number of sort keys of the function, the time included, if the operator has further
    *   ones; none if all sort keys of the operator are the function's
    */
  final case class ByPeers(keys: Option[Int] = None) extends FrameBound(needsFollowing = false) {

    /** The sort keys of the function among those of its operator. */
    def keysOf(order: Seq[SortOrder]): Seq[SortOrder] = order.take(keys.getOrElse(order.size))
  }

  /** The rows at a distance from the current row, in terms of the time column.
    *
    * @param offset
    *   an interval
    * @param zone
    *   the session's time zone, in which days and months are added
    * @param isFollowing
    *   true if the interval is positive
    */
  final case class ByTime(offset: Literal, zone: String, isFollowing: Boolean)
      extends FrameBound(isFollowing) {

    /** Returns true if the boundary depends on the time zone, as days and months do. */
    def dependsOnZone: Boolean = offset.value match {
      case micros: Long => Math.abs(micros) >= FrameBound.MicrosPerDay
      case interval: CalendarInterval => interval.months != 0 || interval.days != 0
      case _ => true
    }

    /** The longest time, in microseconds, by which the boundary of a row is before the row. A
      * month has at most 31 days. Where the boundary depends on the time zone, it includes the
      * changes of the clock.
      */
    def longestBefore: Long = {
      val parts = offset.value match {
        case months: Int => Seq(BigInt(months) * 31 * MicrosPerDay)
        case micros: Long => Seq(BigInt(micros))
        case interval: CalendarInterval =>
          Seq(
            BigInt(interval.months) * 31 * MicrosPerDay,
            BigInt(interval.days) * MicrosPerDay,
            BigInt(interval.microseconds))
        case other => throw new IllegalArgumentException(s"$other is no interval")
      }
      val before = -parts.filter(_ < 0).sum
      val longest =
        if (before == 0 || !dependsOnZone) before else before + DaysOfClockChanges * MicrosPerDay
      if (longest.isValidLong) longest.toLong else Long.MaxValue
    }

    /** The boundary as an expression over the time column, as in Spark's own operator. */
    def of(time: Expression): Expression = offset.dataType match {
      case _: YearMonthIntervalType => TimestampAddYMInterval(time, offset, Some(zone))
      case _ => TimestampAddInterval(time, offset, Some(zone))
    }
  }
}
