package winops.spark.plan

/** The output of a `keep` call.
  *
  * @param name
  *   the value of the argument `output` in SQL, the name of the method in Python, and the word in
  *   EXPLAIN
  */
sealed abstract class Output(val name: String)

object Output {
  case object Changes extends Output("changes")
  case object Rows extends Output("rows")
  case object Snapshots extends Output("snapshots")
  case object Events extends Output("events")

  /** The aggregates after each step, or at each report. */
  case object Agg extends Output("agg")

  /** Each inserted row with the aggregates right after its step. */
  case object WithColumns extends Output("withColumns")

  /** Each row of another input once, with the aggregates of the window contents as of its time.
    */
  case object Lookup extends Output("lookup")

  /** One row with a description of the window in a sentence. */
  case object Describe extends Output("describe")

  val all: Seq[Output] =
    Seq(Changes, Rows, Snapshots, Events, Agg, WithColumns, Lookup, Describe)
}
