package winops.spark.plan

/** What a `keep` gives. */
sealed abstract class Output(val name: String)

object Output {
  case object Changes extends Output("changes")
  case object Rows extends Output("rows")
  case object Snapshots extends Output("snapshots")
  case object Events extends Output("events")

  /** What the content is worth after each step, or at each report. */
  case object Agg extends Output("agg")

  /** Each row that comes in, and what the content is worth right after its step. */
  case object Columns extends Output("columns")

  /** One row, which says in a sentence what is kept. */
  case object Description extends Output("description")

  val all: Seq[Output] = Seq(Changes, Rows, Snapshots, Events, Agg, Columns, Description)
}
