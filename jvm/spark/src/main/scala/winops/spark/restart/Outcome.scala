package winops.spark.restart

/** The effect of one difference between two queries on the state of a checkpoint.
  *
  * @param name
  *   the outcome in plans and messages
  * @param severity
  *   the place in the order of outcomes; the worst difference decides about a restart
  */
sealed abstract class Outcome(val name: String, val severity: Int)

object Outcome {

  /** The state is used as it is. */
  case object Continues extends Outcome("continues", 0)

  /** The first micro-batch computes the state of each group from the rows that are stored. */
  case object Rebuilt extends Outcome("is rebuilt", 1)

  /** The rows that are held enter another window in the first micro-batch. */
  case object Carried extends Outcome("is carried over", 2)

  /** The state lacks rows that the query needs, or has values that it cannot use. */
  case object NeedsHistory extends Outcome("needs history", 3)

  /** The query cannot have a checkpoint of the other query. */
  case object Refused extends Outcome("is refused", 4)

  val all: Seq[Outcome] = Seq(Continues, Rebuilt, Carried, NeedsHistory, Refused)

  /** The most severe of some outcomes; [[Continues]] for none. */
  def worst(outcomes: Iterable[Outcome]): Outcome =
    outcomes.maxByOption(_.severity).getOrElse(Continues)
}
