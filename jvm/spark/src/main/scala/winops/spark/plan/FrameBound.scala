package winops.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, TimestampAddInterval, TimestampAddYMInterval}
import org.apache.spark.sql.types.YearMonthIntervalType
import org.apache.spark.unsafe.types.CalendarInterval

/** A boundary of the frame of a window function, relative to the current row.
  *
  * @param needsFollowing
  *   true if the boundary may lie behind the current row and its peers
  */
sealed abstract class FrameBound(val needsFollowing: Boolean) extends Serializable

object FrameBound {

  private val MicrosPerDay = 24L * 60 * 60 * 1000000

  /** The start of the partition. */
  case object Unbounded extends FrameBound(needsFollowing = false)

  /** The row `offset` rows behind the current row, or before it if the number is negative. */
  final case class ByRows(offset: Int) extends FrameBound(offset > 0)

  /** The rows with the order values of the current row. */
  case object ByPeers extends FrameBound(needsFollowing = false)

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

    /** The boundary as an expression over the time column, as in Spark's own operator. */
    def of(time: Expression): Expression = offset.dataType match {
      case _: YearMonthIntervalType => TimestampAddYMInterval(time, offset, Some(zone))
      case _ => TimestampAddInterval(time, offset, Some(zone))
    }
  }
}
