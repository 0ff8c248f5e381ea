package winops.spark.plan

/** The output mode of a `keep` call. */
sealed abstract class Output(val name: String)

object Output {
  case object Changes extends Output("changes")
  case object Rows extends Output("rows")
  case object Snapshots extends Output("snapshots")
  case object Events extends Output("events")

  /** The aggregates after each step, or at each report. */
  case object Agg extends Output("agg")

  /** Each inserted row with the aggregates right after its step. */
  case object Columns extends Output("columns")

  /** One row with a description of the window in a sentence. */
  case object Description extends Output("description")

  val all: Seq[Output] = Seq(Changes, Rows, Snapshots, Events, Agg, Columns, Description)
}
