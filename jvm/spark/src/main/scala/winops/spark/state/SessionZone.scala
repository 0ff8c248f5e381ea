package winops.spark.state

import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, TimeZoneAwareExpression}

/** Finds the session time zone that expressions depend on. */
private[spark] object SessionZone {

  /** Returns the zone in which the expressions convert times to dates or text, or None. */
  def of(expressions: Seq[Expression]): Option[String] =
    expressions.iterator
      .flatMap(_.collect {
        case cast: Cast if !Cast.needsTimeZone(cast.child.dataType, cast.dataType) => None
        case aware: TimeZoneAwareExpression => aware.timeZoneId
      }.flatten)
      .nextOption()
}
