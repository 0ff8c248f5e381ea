package winops.spark.plan

/** The order in which rows with an event time are applied to their group.
  *
  * @param isInOrder
  *   true if no row is applied before an earlier one, so that a row enters at its own time; if
  *   false, it enters at the latest time of its group, which depends on the group's other rows
  */
sealed abstract class Application(val name: String, val isInOrder: Boolean)

object Application {

  /** Rows wait until the watermark has passed them, and are then applied in the order of time. */
  case object EventTime extends Application("event_time", isInOrder = true)

  /** Rows are applied in the order of arrival. A group's clock is the latest time of its rows. */
  case object Arrival extends Application("arrival", isInOrder = false)

  val all: Seq[Application] = Seq(EventTime, Arrival)
}
