package winops.spark.plan

/** How rows with an event time are applied to their group. */
sealed abstract class Application(val name: String)

object Application {

  /** Rows wait until the watermark has passed them and are then applied in the order of time. */
  case object EventTime extends Application("event_time")

  /** Rows are applied as they come; their group's clock is the latest time it has seen. */
  case object Arrival extends Application("arrival")

  val all: Seq[Application] = Seq(EventTime, Arrival)
}
