package winops.spark.state

import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, TimeZoneAwareExpression}

/** The time zone of the session, as far as expressions depend on it. */
private[spark] object SessionZone {

  /** The zone in which the expressions read times as dates or text; None if none of them does. */
  def of(expressions: Seq[Expression]): Option[String] =
    expressions.iterator
      .flatMap(_.collect {
        case cast: Cast if !Cast.needsTimeZone(cast.child.dataType, cast.dataType) => None
        case aware: TimeZoneAwareExpression => aware.timeZoneId
      }.flatten)
      .nextOption()
}
