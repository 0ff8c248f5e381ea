package winops.spark

import org.json4s.{JArray, JObject, JString, JValue}
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, parse, render}

import org.apache.spark.sql.types.{StructField, StructType}

/** What makes state the state of one `keep` and no other, as JSON: it is stored with a checkpoint and
  * in the state itself, and a restart with another one is refused.
  *
  * `max_rows`, `idle` and `on_null_time` are not in it: a restart may change them.
  */
object StateIdentity {
  def of(plan: KeepPlan): String = {
    val spec = plan.spec
    val columns = StructType(plan.content.map(c => StructField(c.name, c.dataType)))
    val json: JObject =
      ("dialect" -> spec.dialect) ~
        ("policy" -> spec.policy.text) ~
        ("group" -> JArray(plan.keys.map(k => JString(k.name)).toList)) ~
        ("order" -> JArray(plan.order.map(o => JString(Keep.sql(o))).toList)) ~
        ("time" -> plan.time.map(_.name)) ~
        ("apply" -> spec.application.map(_.name)) ~
        ("columns" -> parse(columns.json)) ~
        ("format" -> StateFormat.Version)
    compact(render(json))
  }

  /** Refuses state of another keep than this, with what differs. */
  def check(before: String, now: String): Unit =
    if (before != now) {
      val (was, is) = difference(before, now)
      throw WinopsErrors.runtime("WINOPS_POLICY_CHANGED", "before" -> was, "now" -> is)
    }

  private def difference(before: String, now: String): (String, String) = {
    val (left, right) = (fields(before), fields(now))
    val names = (left.keySet ++ right.keySet).filter(name => left.get(name) != right.get(name))
    def show(side: Map[String, JValue]): String =
      names.toSeq.sorted
        .map(name => s"$name = ${side.get(name).fold("nothing")(v => compact(render(v)))}")
        .mkString(", ")
    (show(left), show(right))
  }

  private def fields(identity: String): Map[String, JValue] = parse(identity) match {
    case JObject(fields) => fields.toMap
    case _ => Map.empty
  }
}
