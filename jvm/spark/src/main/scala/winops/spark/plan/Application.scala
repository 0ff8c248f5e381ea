package winops.spark.plan

/** The order in which rows with an event time are applied to their group. */
sealed abstract class Application(val name: String)

object Application {

  /** Rows wait until the watermark has passed them, and are then applied in the order of time. */
  case object EventTime extends Application("event_time")

  /** Rows are applied in the order of arrival. A group's clock is the latest time of its rows. */
  case object Arrival extends Application("arrival")

  val all: Seq[Application] = Seq(EventTime, Arrival)
}
