package winops.spark.over

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

import winops.spark.expressions.UnqualifiedSql
import winops.spark.plan.{FrameBound, FramedFunction}

/** Translates the frame of a window function into boundaries that a stream can have. */
private[spark] object FrameBounds {

  /** The boundaries of a frame, or the reason why a stream cannot have them.
    *
    * @param call
    *   the function, for errors
    * @param isOfTime
    *   true if the first sort key is an event time; otherwise rows have the order of arrival
    */
  def of(
      call: Expression,
      kind: FrameType,
      lower: Expression,
      upper: Expression,
      isOfTime: Boolean): Either[OverRefusal, (FrameBound, FrameBound)] = {
    def refused(reason: String, expected: String) =
      Left(OverRefusal(UnqualifiedSql.of(call), reason, expected))
    (kind, lower, upper) match {
      case (_, _, UnboundedFollowing) =>
        refused(
          s"its frame ${kind.sql} BETWEEN ${lower.sql} AND UNBOUNDED FOLLOWING ends with the last row of " +
            "the partition, and a stream always has more",
          "End the frame at CURRENT ROW or at a number of rows or an interval FOLLOWING, or drop " +
            "ORDER BY and use groupBy")
      case (RangeFrame, _, _) if !isOfTime =>
        refused(
          "a RANGE frame counts all rows with the same sort keys, and in the order of arrival more " +
            "of them may come later",
          "Write ROWS, such as ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW")
      case _ if isOfRank(call) && !isOfTime =>
        refused(
          "ranks compare sort keys, and in the order of arrival smaller ones may come later",
          "Use row_number()")
      case _ =>
        for {
          first <- bound(call, kind, lower)
          last <- bound(call, kind, upper)
        } yield (first, last)
    }
  }

  /** The function without a frame of its own. */
  def unframed(function: Expression): FramedFunction =
    FramedFunction(function, FrameBound.Unbounded, FrameBound.ByRows(0))

  /** Returns true if a boundary is an interval, with which ORDER BY has one column only. */
  def isOfInterval(function: FramedFunction): Boolean =
    Seq(function.lower, function.upper).exists(_.isInstanceOf[FrameBound.ByTime])

  private def isOfRank(call: Expression): Boolean =
    call.isInstanceOf[Rank] || call.isInstanceOf[DenseRank]

  private def bound(
      call: Expression,
      kind: FrameType,
      bound: Expression): Either[OverRefusal, FrameBound] = {
    val value = if (bound.foldable) bound.eval() else null
    (kind, bound, bound.dataType, value) match {
      case (_, UnboundedPreceding, _, _) => Right(FrameBound.Unbounded)
      case (RowFrame, CurrentRow, _, _) => Right(FrameBound.ByRows(0))
      case (RangeFrame, CurrentRow, _, _) => Right(FrameBound.ByPeers())
      case (RowFrame, _, _, rows: Int) => Right(FrameBound.ByRows(rows))
      case (RangeFrame, _, interval: DayTimeIntervalType, micros: Long) =>
        Right(byTime(Literal(micros, interval), micros > 0))
      case (RangeFrame, _, interval: YearMonthIntervalType, months: Int) =>
        Right(byTime(Literal(months, interval), months > 0))
      case (RangeFrame, _, CalendarIntervalType, interval: CalendarInterval) =>
        val isFollowing = interval.months > 0 || interval.days > 0 || interval.microseconds > 0
        Right(byTime(Literal(interval, CalendarIntervalType), isFollowing))
      case (RangeFrame, _, kind, _) =>
        Left(
          OverRefusal(
            UnqualifiedSql.of(call),
            s"its RANGE frame has a distance of type ${kind.sql}, and only the distance of timestamps " +
              "is an interval",
            "Order by the timestamp itself and write an interval in SQL, such as expr(\"avg(price) OVER " +
              "(ORDER BY ts RANGE BETWEEN INTERVAL 10 MINUTES PRECEDING AND CURRENT ROW)\")"))
      case _ =>
        Left(
          OverRefusal(
            UnqualifiedSql.of(call),
            s"its frame has the boundary ${bound.sql}",
            "Give whole numbers for ROWS and intervals for RANGE"))
    }
  }

  private def byTime(offset: Literal, isFollowing: Boolean): FrameBound =
    FrameBound.ByTime(offset, SQLConf.get.sessionLocalTimeZone, isFollowing)
}
