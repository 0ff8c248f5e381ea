package winops.spark.state

import scala.util.{Success, Try}

import org.json4s.{JArray, JInt, JNothing, JObject, JString, JValue}
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, parse, render}

import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.winops.internal.Catalyst

import winops.spark.expressions.HiddenArguments
import winops.spark.internal.WinopsErrors
import winops.spark.plan.{FramedFunction, KeepPlan, KeepSpec, OperatorPlan, OverPlan}
import winops.storage.bytes.CorruptStateException
import winops.text.dialect.Names
import winops.window.piece.Resizable

/** Identifies the query that state belongs to, as JSON, which is stored with the checkpoint and
  * in the state itself. A restart with another identity is refused, unless the windows differ in
  * their length only.
  *
  * The identity excludes `max_rows`, `idle` and `on_null_time`, which a restart may change.
  */
object StateIdentity {
  def of(plan: OperatorPlan): String = {
    val spec = plan.spec
    val columns = StructType(plan.content.map(c => StructField(c.name, c.dataType)))
    val ofOperation = plan match {
      case keep: KeepPlan => ofKeep(keep)
      case over: OverPlan => ofOver(over)
    }
    val json: JObject = ofOperation ~
      ("group" -> JArray(spec.group.map(JString(_)).toList)) ~
      ("order" -> JArray(spec.order.map(JString(_)).toList)) ~
      ("time" -> plan.time.map(_.name)) ~
      ("apply" -> spec.application.map(_.name)) ~
      (Zone -> SessionZone.of(plan.expressionsOfState)) ~
      ("arguments" -> ofHidden(plan)) ~
      (Columns -> parse(Catalyst.asNullable(columns).json)) ~
      (SourcePartition -> plan.sourcePartition.map(_ => true)) ~
      (Format -> StateVersion.Current)
    compact(render(json))
  }

  /** The policy, and the results, since the aggregates stored beside the rows depend on them. */
  private def ofKeep(plan: KeepPlan): JObject = {
    val spec = plan.spec
    val results = Option.when(spec.followsContent) {
      texts((plan.by ++ plan.results).map(FramedFunction.identityOfResult))
    }
    ("dialect" -> spec.dialect) ~
      (Policy -> spec.policy.window) ~
      (Lengths -> resizable(spec).map(_.name)) ~
      ("punctuation" -> spec.punctuation) ~
      ("across" -> Option.when(spec.acrossGroups)(true)) ~
      (Results -> results)
  }

  /** The functions, sorted, because the state does not depend on the order of the query. */
  private def ofOver(plan: OverPlan): JObject =
    (Over -> true) ~
      ("exact_floats" -> Option.when(plan.spec.exactFloats)(true)) ~
      (Results -> texts(plan.functions.map(_._1))) ~
      (FunctionsIdentity.Field -> FunctionsIdentity.of(plan))

  /** The kind of window that can take over these rows with another length, if there is one. */
  private def resizable(spec: KeepSpec): Option[Resizable] =
    spec.policy.resizable.filterNot(_ => spec.isCrossGroup)

  /** The expressions of the group, the order and the policy with arguments that their SQL does
    * not show; None if there are none.
    */
  private def ofHidden(plan: OperatorPlan): Option[JArray] = {
    val ofPolicy = plan match {
      case keep: KeepPlan => keep.expressions.map(_.child)
      case _: OverPlan => Nil
    }
    val hidden = (plan.groupExpressions ++ plan.order ++ ofPolicy)
      .filter(HiddenArguments.digest(_).isDefined)
    Option.when(hidden.nonEmpty)(texts(hidden.map(plan.identityOf)))
  }

  private def texts(each: Seq[String]): JArray = JArray(each.map(JString(_)).toList)

  /** Throws an error with the differences if `before` is the identity of an incompatible query,
    * or an error about the version if it has another format.
    */
  def check(before: String, now: String): Unit = {
    val (was, is) = (fields(before), fields(now))
    was.get(Format) match {
      case Some(JInt(format)) if format == StateVersion.Current =>
      case other => throw StateVersion.another(other.fold[Any]("unknown")(_.values))
    }
    // Other kinds of lengths matter only if the policies differ.
    val unshown = Set(Format, Lengths, FunctionsIdentity.Field)
    val areAdded = FunctionsIdentity.areAdded(was, is)
    // Results of functions that were not there may depend on a time zone.
    val ofAdded = if (was.contains(Zone)) Set(Results) else Set(Results, Zone)
    val mayDiffer = Set(Format, Lengths) ++ (if (areResizable(was, is)) Set(Policy) else Set()) ++
      (if (areAdded) ofAdded + FunctionsIdentity.Field else Set())
    if (was -- mayDiffer != is -- mayDiffer) {
      refuse(difference(was -- unshown, is -- unshown))
    }
    if (areAdded) FunctionsIdentity.lacking(was, is).foreach(refuse)
  }

  private def refuse(difference: (String, String)): Nothing = throw WinopsErrors.runtime(
    "WINOPS_POLICY_CHANGED",
    "before" -> difference._1,
    "now" -> difference._2)

  /** Returns the identities of the functions of `before` if `now` has others too. The two
    * identities must be compatible.
    */
  def functionsBefore(before: String, now: String): Option[Seq[String]] = {
    val (was, is) = (fields(before), fields(now))
    Option.when(FunctionsIdentity.areAdded(was, is))(FunctionsIdentity.names(was))
  }

  /** Returns true if rows expire at other instants under `now` than under `before`. The two
    * identities must be compatible.
    */
  def changesDueTimes(before: String, now: String): Boolean = {
    val (was, is) = (fields(before), fields(now))
    was.get(Policy) != is.get(Policy) && !is.get(Lengths).contains(JString(Resizable.ByRows.name))
  }

  /** The text of the window that an identity names. */
  def window(identity: String): Option[String] =
    fields(identity).get(Policy).collect { case JString(text) => text }

  private def areResizable(was: Map[String, JValue], is: Map[String, JValue]): Boolean =
    was.contains(Lengths) && was.get(Lengths) == is.get(Lengths)

  private val Policy = "policy"
  private val Lengths = "lengths"
  private val Format = "format"
  private val Columns = "columns"
  private val Results = "results"
  private val Zone = "zone"

  /** True in the identity of Spark's own window functions. */
  private[spark] val Over = "over"

  /** True in the identity if waiting rows have the column that [[SourcePartitions]] adds. */
  private[spark] val SourcePartition = "source_partition"

  private val HiddenDifference =
    " (the SQL is the same, but not what the number after arguments: stands for: schemas, " +
      "options, types, lambda variables, the mode for errors, and the code of functions)"

  private def difference(
      left: Map[String, JValue],
      right: Map[String, JValue]): (String, String) = {
    val names = (left.keySet ++ right.keySet).filter(name => left.get(name) != right.get(name))
    def show(side: Map[String, JValue], other: Map[String, JValue]): String =
      names.toSeq.sorted
        .map { name =>
          val value = (side.get(name), other.get(name)) match {
            case (Some(columns), Some(others)) if name == Columns =>
              differingColumns(columns, others)
            case (Some(_), None) if name == SourcePartition => "known"
            case (None, Some(_)) if name == SourcePartition =>
              "unknown because of an operator such as repartition or map before keep"
            case (Some(json), Some(others)) =>
              val (own, its) = (compact(render(json)), compact(render(others)))
              val isHidden =
                FramedFunction.withoutDigest(own) == FramedFunction.withoutDigest(its)
              if (isHidden) s"$own$HiddenDifference" else own
            case (Some(json), None) => compact(render(json))
            case (None, _) => "nothing"
          }
          s"$name = $value"
        }
        .mkString(", ")
    (show(left, right), show(right, left))
  }

  /** The columns of `schema` that differ from those of `other`, as text for an error message. */
  private def differingColumns(schema: JValue, other: JValue): String = {
    val (own, others) = (namesAndTypes(schema), namesAndTypes(other))
    val missing = others.map(_._1).diff(own.map(_._1)).map(name => s"no column $name")
    val differing = own.diff(others).map { case (name, kind) => s"$name $kind" } ++ missing
    if (differing.isEmpty) own.map(_._1).mkString("in the order ", ", ", "")
    else differing.mkString(", ")
  }

  /** The names and types of a schema's columns. Nested types and properties are JSON. */
  private def namesAndTypes(schema: JValue): Seq[(String, String)] =
    (schema \ "fields").children.map { field =>
      def text(json: JValue): String = json match {
        case JString(text) => text
        case other => compact(render(other))
      }
      val properties = field \ "metadata" match {
        case JObject(Nil) | JNothing => ""
        case metadata => s" ${text(metadata)}"
      }
      (Names.shown(text(field \ "name")), text(field \ "type") + properties)
    }

  private def fields(identity: String): Map[String, JValue] = StateErrors.translated {
    Try(parse(identity)) match {
      case Success(JObject(fields)) => fields.toMap
      case _ => throw new CorruptStateException("what keep it belongs to is no JSON")
    }
  }
}
