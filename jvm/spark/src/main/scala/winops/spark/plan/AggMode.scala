package winops.spark.plan

/** The values that the output `agg` emits. */
sealed abstract class AggMode(val name: String)

object AggMode {

  /** The values after each step. */
  case object All extends AggMode("all")

  /** The last values of each group and micro-batch. */
  case object Latest extends AggMode("latest")

  /** The values after each step as inserts, and the values that they replace as deletes. */
  case object Changes extends AggMode("changes")

  val all: Seq[AggMode] = Seq(All, Latest, Changes)
}
