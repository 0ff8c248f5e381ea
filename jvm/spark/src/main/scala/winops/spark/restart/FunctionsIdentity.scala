package winops.spark.restart

import org.json4s.{JArray, JObject, JString, JValue}
import org.json4s.JsonDSL._

import winops.spark.frames.{FrameReach, Frames}
import winops.spark.plan.{FramedFunction, OverPlan}
import winops.text.dialect.Names

/** The window functions in the identity of a query, with the rows that are stored for each of
  * them. A restart may add functions that can be computed from the rows stored for the others.
  */
private[spark] object FunctionsIdentity {

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

  /** The columns that are stored for the functions in the identity of a query. */
  def columns(identity: Map[String, JValue]): Set[String] =
    functions(identity).values.flatMap(columnsOf).toSet

  /** The functions in the identity of a query that read one of some columns. */
  def reading(identity: Map[String, JValue], columns: Set[String]): Set[String] =
    functions(identity).collect {
      case (name, function) if columnsOf(function).exists(columns) => name
    }.toSet

  /** The differences between the functions of two queries.
    *
    * @param altered
    *   the columns whose type, or the case of whose name, differs
    * @param renamed
    *   the names in the query of the columns whose name had another case
    */
  def differences(
      before: Map[String, JValue],
      now: Map[String, JValue],
      altered: Set[String],
      renamed: Map[String, String]): Seq[Difference] = {
    val (was, is) = (functions(before), functions(now))
    val kept = was.values.flatMap(reach(_, "keeps")).toSeq
    val columns =
      was.values.flatMap(columnsOf).map(name => renamed.getOrElse(name, name)).toSeq.distinct
    def computed(name: String, function: JValue, before: String): Difference = {
      val needed = reach(function, "needs").fold("other rows")(_.description)
      val isKept = reach(function, "needs").exists(needs => kept.exists(_.covers(needs)))
      if (isKept && columnsOf(function).forall(columns.contains)) {
        Difference(
          s"function $name",
          before,
          "present",
          Outcome.Rebuilt,
          "The stored rows suffice to compute it.")
      } else {
        val stored = kept
          .filter(one => !kept.exists(other => other != one && other.covers(one)))
          .map(_.description)
          .distinct
          .sorted
        Difference(
          s"the added function $name",
          before,
          "present",
          Outcome.NeedsHistory,
          s"It needs ${of(columnsOf(function))}$needed, and the state has " +
            s"${of(columns)}${stored.mkString(" and ")}.",
          Remedies.history)
      }
    }
    val added = (is -- was.keys).toSeq.sortBy(_._1).map { case (name, function) =>
      computed(name, function, "nothing")
    }
    val removed = (was -- is.keys).keys.toSeq.sorted.map { name =>
      Difference(
        s"function $name",
        "present",
        "nothing",
        Outcome.Rebuilt,
        "Its values, and rows that no other function needs, are removed.")
    }
    val retyped = (is -- (is.keySet -- was.keySet)).toSeq.sortBy(_._1).collect {
      case (name, function) if columnsOf(function).exists(altered) =>
        computed(name, function, "present with a column of another type")
    }
    added ++ removed ++ retyped
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
