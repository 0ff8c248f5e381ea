package winops.spark.state

import org.json4s.{JArray, JObject, JString, JValue}
import org.json4s.JsonDSL._

import winops.spark.frames.{FrameReach, Frames}
import winops.spark.plan.{FramedFunction, OverPlan}
import winops.text.dialect.Names

/** The window functions in a [[StateIdentity]], with the rows that are stored for each of them. A
  * restart may add functions that can be computed from the rows stored for the others.
  */
private[state] object FunctionsIdentity {

  /** The field of the identity. */
  val Field = "functions"

  /** The columns and rows of each function, by its identity. */
  def of(plan: OverPlan): JObject = {
    val each = plan.functions.map { case (identity, function) =>
      val columns =
        Frames.columns(Seq(function), plan).map(FramedFunction.nameOf(_, plan.content))
      val rows: JObject =
        ("columns" -> columns.toList) ~
          ("needs" -> FrameReach.neededBy(function).text) ~
          ("keeps" -> FrameReach.keptFor(function).text)
      identity -> (rows: JValue)
    }
    JObject(each.toList)
  }

  /** The identities of the functions in the identity of a query. */
  def names(identity: Map[String, JValue]): Seq[String] = functions(identity).keys.toSeq.sorted

  /** Returns true if `now` has all functions of `before` and others. */
  def areAdded(before: Map[String, JValue], now: Map[String, JValue]): Boolean = {
    val (was, is) = (functions(before), functions(now))
    was.nonEmpty && was.size < is.size && was.forall { case (name, rows) =>
      is.get(name).contains(rows)
    }
  }

  /** Returns the stored rows and the added function that cannot be computed from them, if there
    * is one.
    */
  def lacking(before: Map[String, JValue], now: Map[String, JValue]): Option[(String, String)] = {
    val was = functions(before)
    val kept = was.values.flatMap(reach(_, "keeps")).toSeq
    val columns = was.values.flatMap(columnsOf).toSeq.distinct
    val added = (functions(now) -- was.keys).toSeq.sortBy(_._1)
    added
      .find { case (_, function) =>
        val isKept = reach(function, "needs").exists(needed => kept.exists(_.covers(needed)))
        !isKept || !columnsOf(function).forall(columns.contains)
      }
      .map { case (name, function) =>
        val needed = reach(function, "needs").fold("other rows")(_.description)
        val stored = kept
          .filter(one => !kept.exists(other => other != one && other.covers(one)))
          .map(_.description)
          .distinct
          .sorted
        (
          s"window functions that store ${of(columns)}${stored.mkString(" and ")}",
          s"the added function $name, which needs ${of(columnsOf(function))}$needed")
      }
  }

  private def of(columns: Seq[String]): String = columns.size match {
    case 0 => ""
    case 1 => s"the column ${Names.shown(columns.head)} of "
    case _ => columns.map(Names.shown).sorted.mkString("the columns ", ", ", " of ")
  }

  private def functions(identity: Map[String, JValue]): Map[String, JValue] =
    identity.get(Field) match {
      case Some(JObject(fields)) => fields.toMap
      case _ => Map.empty
    }

  private def reach(function: JValue, field: String): Option[FrameReach] =
    function \ field match {
      case JString(text) => FrameReach.parse(text)
      case _ => None
    }

  private def columnsOf(function: JValue): Seq[String] = function \ "columns" match {
    case JArray(names) => names.collect { case JString(name) => name }
    case _ => Nil
  }
}
