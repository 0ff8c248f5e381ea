package winops.spark.restart

import org.json4s.{JArray, JNothing, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods.{compact, render}

import org.apache.spark.sql.catalyst.expressions.Cast
import org.apache.spark.sql.types.{StructField, StructType}

import winops.text.dialect.Names

/** Compares the input columns of two queries. Columns are matched by their names; several columns
  * of one name are matched in their order.
  *
  * @param before
  *   the columns in the identity of the checkpoint
  * @param now
  *   the columns in the identity of the query
  * @param read
  *   the columns that the policy, the group, the order and the time read
  */
private[spark] final class ColumnDifferences(
    before: JValue,
    now: JValue,
    read: Set[String] = Set.empty) {
  import ColumnDifferences._

  private val was = columnsOf(before)
  private val is = columnsOf(now)

  private val common = was.map(_.key).filter(is.map(_.key).toSet)

  private def areIn(columns: Seq[Column]): Map[(String, Int), Column] =
    columns.map(column => column.key -> column).toMap

  private val (wasBy, isBy) = (areIn(was), areIn(is))

  /** The names of the columns whose type differs. */
  val altered: Set[String] =
    common.filter(key => wasBy(key).json != isBy(key).json).map(_._1).toSet

  /** The columns of the checkpoint, in their order, with their places in the query. */
  def former: Seq[FormerColumn] = was.map { column =>
    val place = is.indexWhere(_.key == column.key)
    FormerColumn(column.field, place, place >= 0 && is(place).json == column.json)
  }

  def differences: Seq[Difference] = removed ++ added ++ types ++ order

  private def removed: Seq[Difference] = was.filterNot(c => isBy.contains(c.key)).map { column =>
    Difference(
      s"column ${column.shown}",
      column.text,
      "no such column",
      if (read(column.name)) Outcome.NeedsHistory else Outcome.Rebuilt,
      if (read(column.name)) "The window, the group, the order or the time read it."
      else "Its values are removed from the stored rows.",
      if (read(column.name)) Remedies.history else "")
  }

  private def added: Seq[Difference] = is.filterNot(c => wasBy.contains(c.key)).map { column =>
    Difference(
      s"column ${column.shown}",
      "no such column",
      column.text,
      if (read(column.name)) Outcome.NeedsHistory else Outcome.Rebuilt,
      if (read(column.name)) "The window, the group, the order or the time read it."
      else
        "It is NULL in the stored rows, or has the value of fill=. A renamed column is one removed and one added.",
      if (read(column.name)) Remedies.history else "")
  }

  private def types: Seq[Difference] =
    common.filter(key => wasBy(key).json != isBy(key).json).map { key =>
      val (one, other) = (wasBy(key), isBy(key))
      val isWider = Cast.canUpCast(one.field.dataType, other.field.dataType)
      val outcome =
        if (isWider && !read(one.name)) Outcome.Rebuilt else Outcome.NeedsHistory
      Difference(
        s"column ${one.shown}",
        one.text,
        other.text,
        outcome,
        if (outcome == Outcome.Rebuilt) "The stored values are cast to the wider type."
        else if (isWider) "The window, the group, the order or the time read it."
        else "The stored values cannot be cast without loss.",
        if (outcome == Outcome.Rebuilt) ""
        else s"Cast the column to ${one.text} before keep. ${Remedies.history}")
    }

  private def order: Seq[Difference] = {
    val (left, right) = (common, is.map(_.key).filter(wasBy.contains))
    if (left == right) Nil
    else {
      Seq(
        Difference(
          "order of the columns",
          was.map(_.shown).mkString(", "),
          is.map(_.shown).mkString(", "),
          Outcome.Rebuilt,
          "The stored rows get the new order."))
    }
  }
}

private[restart] object ColumnDifferences {

  /** A column.
    *
    * @param place
    *   the number of columns before it with its name
    * @param json
    *   the type and the properties as stored
    */
  final case class Column(field: StructField, place: Int, json: JValue) {
    def name: String = field.name
    def key: (String, Int) = (name, place)
    def shown: String = Names.shown(name)

    /** The type for messages. Nested types and properties are JSON. */
    def text: String = {
      val properties = json \ "metadata" match {
        case JObject(Nil) | JNothing => ""
        case metadata => s" ${textOf(metadata)}"
      }
      textOf(json \ "type") + properties
    }
  }

  /** The columns of a schema; none if there is no schema. */
  def columnsOf(schema: JValue): Seq[Column] = {
    val stored = schema match {
      case JNothing => new StructType
      case known => StoredTypes.columns(known).getOrElse(new StructType)
    }
    val json = schema \ "fields" match {
      case JArray(fields) => fields
      case _ => Nil
    }
    stored.zip(json).zipWithIndex.map { case ((field, own), i) =>
      Column(field, stored.take(i).count(_.name == field.name), own)
    }
  }

  private def textOf(json: JValue): String = json match {
    case JString(text) => text
    case other => compact(render(other))
  }
}
