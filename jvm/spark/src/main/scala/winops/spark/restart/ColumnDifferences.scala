package winops.spark.restart

import org.json4s.{JArray, JNothing, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods.{compact, render}

import org.apache.spark.sql.types.{DataType, StructField, StructType}

import winops.spark.expressions.LosslessCast
import winops.spark.plan.{FramedFunction, Keep}
import winops.text.dialect.Names

/** Compares the input columns of two queries, which [[MatchedNames]] matches.
  *
  * @param before
  *   the columns in the identity of the checkpoint
  * @param now
  *   the columns in the identity of the query
  * @param read
  *   the columns that the policy, the group, the order and the time read
  * @param haveLookups
  *   true if in both queries other rows look the windows up
  */
private[spark] final class ColumnDifferences(
    before: JValue,
    now: JValue,
    read: Set[String] = Set.empty,
    haveLookups: Boolean = false) {
  import ColumnDifferences._

  private val was = columnsOf(before)
  private val is = columnsOf(now)

  /** The columns of both queries, in the order of the checkpoint. */
  private val common: Seq[(Column, Column)] =
    was.zip(MatchedNames.places(was.map(_.name), is.map(_.name))).collect {
      case (column, place) if place >= 0 => column -> is(place)
    }

  private def differing: Seq[(Column, Column)] =
    common.filter { case (one, other) => one.json != other.json }

  /** The [[FramedFunction.nameOf names]] of the columns whose type, or the case of whose name,
    * differs.
    */
  val altered: Set[String] =
    differing.flatMap { case (one, other) => Seq(one.numbered, other.numbered) }.toSet

  /** The names in the query of the columns whose name had another case. */
  val renamed: Map[String, String] = common.collect {
    case (one, other) if one.name != other.name => one.numbered -> other.numbered
  }.toMap

  /** The columns of the checkpoint, in their order, with their places in the query. */
  def former: Seq[FormerColumn] = {
    val now = common.toMap
    was.map { column =>
      val own = now.get(column)
      FormerColumn(
        column.field,
        own.fold(-1)(is.indexOf(_)),
        isSame = own.exists(_.json == column.json),
        hasSameType = own.exists(_.field.dataType == column.field.dataType))
    }
  }

  def differences: Seq[Difference] = removed ++ added ++ types ++ order

  private def removed: Seq[Difference] = was.diff(common.map(_._1)).map { column =>
    Difference(
      s"column ${column.shown}",
      column.text,
      "no such column",
      if (read(column.name)) Outcome.NeedsHistory else Outcome.Rebuilt,
      if (read(column.name)) "The window, the group, the order or the time read it."
      else "Its values are removed from the stored rows.",
      if (read(column.name)) Remedies.history else "")
  }

  private def added: Seq[Difference] = is.diff(common.map(_._2)).map { column =>
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
    differing.map { case (one, other) =>
      val (was, is) = (one.field.dataType, other.field.dataType)
      val isOfLookup =
        haveLookups && one.name == Keep.Lookup && other.name == Keep.Lookup
      val isWider = LosslessCast.isPossible(was, is) || isOfLookup && keepsFields(was, is)
      val isRead = read(one.name) || read(other.name)
      val isRenamed = one.name != other.name
      val outcome = if (isWider && !isRead) Outcome.Rebuilt else Outcome.NeedsHistory
      def text(column: Column) =
        if (isRenamed) s"${column.shown} ${column.text}" else column.text
      Difference(
        s"column ${one.shown}",
        text(one),
        text(other),
        outcome,
        if (outcome == Outcome.Rebuilt && was == is && isRenamed)
          "Its name has another case. The stored values are kept."
        else if (outcome == Outcome.Rebuilt && isOfLookup)
          "Rows that wait to look up have NULL in columns that are added."
        else if (outcome == Outcome.Rebuilt) "The stored values are cast to the wider type."
        else if (isWider) "The window, the group, the order or the time read it."
        else if (!LosslessCast.hasSameFields(was, is))
          "The fields of its structs have other names, or are in another order."
        else "The stored values cannot be cast without loss.",
        if (outcome == Outcome.Rebuilt) ""
        else if (isWider && isRenamed)
          s"Name the column ${one.shown} before keep. ${Remedies.history}"
        else s"Give the column the type ${one.text} before keep. ${Remedies.history}")
    }

  /** Returns true if no value is lost in the columns that two rows that look up have in common.
    */
  private def keepsFields(was: DataType, is: DataType): Boolean = (was, is) match {
    case (StructType(own), StructType(others)) =>
      own.zip(MatchedNames.places(own.map(_.name).toSeq, others.map(_.name).toSeq)).forall {
        case (field, place) =>
          place < 0 || LosslessCast.isPossible(field.dataType, others(place).dataType)
      }
    case _ => false
  }

  private def order: Seq[Difference] = {
    val right = common.map(_._2)
    val left = right.sortBy(is.indexOf(_))
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
    def numbered: String = FramedFunction.numbered(name, place)
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
    val json = StoredTypes.withoutMetadata(schema) \ "fields" match {
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
