package winops.spark

import winops.policy.Policy

/** How rows with an event time are applied to their group. */
sealed abstract class Application(val name: String)

object Application {

  /** Rows wait until the watermark has passed them and are then applied in the order of time. */
  case object EventTime extends Application("event_time")

  /** Rows are applied as they come; their group's clock is the latest time it has seen. */
  case object Arrival extends Application("arrival")

  val all: Seq[Application] = Seq(EventTime, Arrival)
}

/** What a `keep` gives. */
sealed abstract class Output(val name: String)

object Output {
  case object Changes extends Output("changes")
  case object Rows extends Output("rows")
  case object Snapshots extends Output("snapshots")
  case object Events extends Output("events")

  /** One row, which says in a sentence what is kept. */
  case object Description extends Output("description")

  val all: Seq[Output] = Seq(Changes, Rows, Snapshots, Events, Description)
}

/** All of a `keep` but its columns.
  *
  * @param dialect
  *   the language the policy was written in
  * @param group
  *   the expressions that group the rows, as they were written
  * @param order
  *   the expressions that order the rows of a group, as they were written
  * @param application
  *   how event times are applied; none without a time column
  * @param idleMillis
  *   after how much silence a group is forgotten
  * @param maxRows
  *   how many rows a group may hold, rows that wait for the watermark included
  * @param punctuation
  *   the column that marks the stream, if there is one
  * @param dropNullTime
  *   whether a row without a time is dropped and counted rather than an error
  */
final case class KeepSpec(
    dialect: String,
    policy: Policy,
    group: Seq[String],
    order: Seq[String],
    application: Option[Application],
    idleMillis: Option[Long],
    maxRows: Long,
    dropNullTime: Boolean,
    punctuation: Option[String],
    output: Output) {

  def usesTime: Boolean = policy.usesTime || idleMillis.isDefined

  /** Whether what happens to one group depends on the others. */
  def couplesGroups: Boolean =
    group.nonEmpty && (policy.couplesGroups || punctuation.isDefined)

  /** Whether one task has to have all rows. */
  def runsInOneTask: Boolean = group.isEmpty || couplesGroups

  def rowsWait: Boolean = application.contains(Application.EventTime)
}

object KeepSpec {
  val DefaultMaxRows: Long = 10000000L
}
