package winops.spark.restart

import org.json4s.{JArray, JBool, JNothing, JString, JValue}

import winops.spark.plan.FramedFunction

/** Compares two as-of joins by their arguments. The rows in the state of a join are those that it
  * may still match, so another join cannot use them.
  */
private[restart] object JoinDifferences {
  import IdentityFields._

  /** An argument of a join.
    *
    * @param field
    *   its field in the identity
    * @param name
    *   its name in messages
    * @param because
    *   why it may not change
    */
  private final case class Argument(field: String, name: String, because: String)

  private val Compared = Seq(
    Argument(
      JoinDirection,
      "direction",
      "The state has the rows of the right side that the former direction matches."),
    Argument(
      JoinTolerance,
      "tolerance",
      "The state has the rows of the right side within the former tolerance."),
    Argument(JoinAllowsExact, "allow_exact_matches", "The rows that wait are in another order."),
    Argument(
      JoinTimes,
      "time columns",
      "The rows that wait have the times of the former columns."),
    Argument(JoinKeys, "keys", "The rows that wait have the keys of the former columns."),
    Argument(
      JoinConditions,
      "conditions over the right side",
      "The state has the rows of the right side that satisfy the former conditions."))

  /** The differences of two joins.
    *
    * @param before
    *   the join in the identity of the checkpoint
    * @param now
    *   the join in the identity of the query
    */
  def of(before: JValue, now: JValue): Seq[Difference] = {
    val isTurned = before \ JoinDirection != now \ JoinDirection
    for {
      argument <- Compared
      (was, is) = (before \ argument.field, now \ argument.field)
      // Joins of two directions do not have the same arguments.
      if was != is && !(isTurned && (was == JNothing || is == JNothing))
    } yield Difference(
      s"${argument.name} of the as-of join",
      shown(was, is),
      shown(is, was),
      Outcome.Refused,
      argument.because,
      Remedies.former)
  }

  private def shown(value: JValue, other: JValue): String = {
    val (own, its) = (textOf(value), textOf(other))
    val (ofSql, ofOther) = (FramedFunction.withoutDigest(own), FramedFunction.withoutDigest(its))
    if (ofSql == ofOther) s"$own${RestartPlan.HiddenDifference}" else ofSql
  }

  private def textOf(value: JValue): String = value match {
    case JString(text) => text
    case JBool(flag) => flag.toString
    case JArray(values) if values.nonEmpty => values.map(textOf).mkString(", ")
    case _ => "none"
  }
}
