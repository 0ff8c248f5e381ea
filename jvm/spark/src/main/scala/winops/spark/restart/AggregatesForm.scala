package winops.spark.restart

import org.json4s.{JArray, JBool, JInt, JObject, JString, JValue}
import org.json4s.JsonDSL._

import winops.spark.aggregates.AggregatePlan
import winops.spark.expressions.OfWindow
import winops.spark.plan.{FramedFunction, KeepPlan}

/** The form in which the aggregates of a `keep` are stored beside the rows. It suffices to find
  * and remove the stored values without the functions.
  *
  * @param isDivided
  *   true if each combination of some values has aggregates of its own
  * @param leavesFromFront
  *   true if rows leave in the order of their insertion
  * @param distinct
  *   for each window the number of functions that count distinct values
  * @param arrivals
  *   for each window the number of times that values of the newest row are stored
  * @param last
  *   the expressions of the newest row, as SQL
  */
private[spark] final case class AggregatesForm(
    isDivided: Boolean,
    leavesFromFront: Boolean,
    distinct: Seq[Int],
    arrivals: Seq[Int],
    last: Seq[String]) {
  def json: JObject =
    ("divided" -> isDivided) ~
      ("front" -> leavesFromFront) ~
      ("distinct" -> distinct) ~
      ("arrivals" -> arrivals) ~
      ("last" -> last)
}

private[spark] object AggregatesForm {

  /** The form of the aggregates of a plan. */
  def of(plan: KeepPlan): AggregatesForm = {
    val spec = plan.spec
    val plans = (0 until spec.windows).map { number =>
      val results = plan.results.collect {
        case OfWindow(`number`, result) => result
        case result if !result.isInstanceOf[OfWindow] => result
      }
      new AggregatePlan(results, plan.by, _ => false)
    }
    val times = if (spec.postsOnSizeChange) 2 else 1
    AggregatesForm(
      plan.by.nonEmpty,
      spec.policy.leavesFromFront,
      plans.map(_.counted.size),
      plans.map(one => if (one.ofLastArrival.isEmpty) 0 else times),
      plans.flatMap(_.ofLastArrival).map(FramedFunction.identityOfResult(_, plan.content)))
  }

  /** Parses what [[AggregatesForm.json]] returned. */
  def parse(json: JValue): Option[AggregatesForm] = for {
    isDivided <- flag(json \ "divided")
    leavesFromFront <- flag(json \ "front")
    distinct <- numbers(json \ "distinct")
    arrivals <- numbers(json \ "arrivals")
    last <- texts(json \ "last")
    if distinct.size == arrivals.size
  } yield AggregatesForm(isDivided, leavesFromFront, distinct, arrivals, last)

  private def flag(json: JValue): Option[Boolean] = json match {
    case JBool(value) => Some(value)
    case _ => None
  }

  private def numbers(json: JValue): Option[Seq[Int]] = json match {
    case JArray(values) => Some(values.collect { case JInt(value) => value.toInt })
    case _ => None
  }

  private def texts(json: JValue): Option[Seq[String]] = json match {
    case JArray(values) => Some(values.collect { case JString(value) => value })
    case _ => None
  }
}
