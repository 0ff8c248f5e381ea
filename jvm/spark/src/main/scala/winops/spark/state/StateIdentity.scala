package winops.spark.state

import scala.util.{Success, Try}

import org.json4s.{JArray, JInt, JObject, JString, JValue}
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, parse, render}

import org.apache.spark.sql.catalyst.expressions.{AttributeSet, Expression}
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.winops.internal.Catalyst

import winops.spark.expressions.HiddenArguments
import winops.spark.internal.WinopsErrors
import winops.spark.plan.{Application, FramedFunction, JoinForm, KeepPlan, KeepSpec, OperatorPlan, OverPlan, RestartOptions}
import winops.spark.restart.{AggregatesForm, ColumnDifferences, FormerColumn, FrameForms, FunctionsIdentity, RestartPlan, StoredTypes}
import winops.spark.restart.IdentityFields._
import winops.storage.bytes.CorruptStateException
import winops.window.piece.Resizable

/** Identifies the query that state belongs to, as JSON, which is stored with the checkpoint and
  * in the state itself. A [[RestartPlan]] compares it with that of a query that restarts.
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
      (Group -> texts(spec.group)) ~
      (Keys -> texts(plan.keys.map(_.dataType.catalogString))) ~
      (Order -> texts(spec.order)) ~
      (Time -> plan.time.map(_.name)) ~
      (Apply -> spec.application.map(_.name)) ~
      (Zone -> SessionZone.of(plan.expressionsOfState)) ~
      (Arguments -> ofHidden(plan)) ~
      (Columns -> StoredTypes.withoutMetadata(parse(Catalyst.asNullable(columns).json))) ~
      (Reads -> texts(readBy(plan))) ~
      (SourcePartition -> plan.sourcePartition.map(_ => true)) ~
      (Format -> StateVersion.Current)
    compact(render(json))
  }

  /** The policy, and the results, since the aggregates stored beside the rows depend on them. */
  private def ofKeep(plan: KeepPlan): JObject = {
    val spec = plan.spec
    val results = Option.when(spec.followsContent) {
      texts((plan.by ++ plan.results).map(FramedFunction.identityOfResult(_, plan.content)))
    }
    (Dialect -> spec.dialect) ~
      (Policy -> spec.policy.window) ~
      (Lengths -> resizable(spec).map(_.name)) ~
      (Key -> Option.when(spec.policy.isKeyed)(texts(spec.policy.key.map(_.sql)))) ~
      (Operation -> spec.operation) ~
      (Buffer -> Option.when(spec.policy.buffer > 0L)(spec.policy.buffer)) ~
      (Whole -> Option.when(spec.emitsRowIds && isWhole(spec))(true)) ~
      (Punctuation -> spec.punctuation) ~
      (Lookup -> spec.lookup.map(one => if (one.before) "before" else "at")) ~
      (LookupBy -> spec.lookup.filterNot(_.ofJoin).map(one => texts(one.by))) ~
      (Join -> spec.lookup.flatMap(_.join).map(ofJoin)) ~
      (Across -> Option.when(spec.acrossGroups)(true)) ~
      (CrossGroup -> Option.when(spec.isCrossGroup)(true)) ~
      (OneSided -> Option
        .unless(spec.policy.stream.inserts && spec.policy.stream.deletes)(true)) ~
      (Results -> results) ~
      (Aggregates -> Option.when(spec.followsContent)(AggregatesForm.of(plan).json))
  }

  private def ofJoin(form: JoinForm): JObject =
    (JoinDirection -> form.direction) ~
      (JoinTolerance -> form.tolerance) ~
      (JoinAllowsExact -> form.allowsExact) ~
      (JoinTimes -> form.times) ~
      (JoinKeys -> texts(form.keys)) ~
      (JoinConditions -> texts(form.conditions))

  /** Returns true if the groups are larger than they could be. */
  private def isWhole(spec: KeepSpec): Boolean =
    spec.policy.windowNames.isEmpty && KeepSpec.maySplit(spec.application, spec.punctuation) &&
      (spec.policy.splitByKey ne spec.policy)

  /** The functions, sorted, because the state does not depend on the order of the query. */
  private def ofOver(plan: OverPlan): JObject =
    (Over -> true) ~
      (ExactFloats -> Option.when(plan.spec.exactFloats)(true)) ~
      (Results -> texts(plan.functions.map(_._1))) ~
      (FunctionsIdentity.Field -> FunctionsIdentity.of(plan)) ~
      (Frames -> FrameForms.json(plan))

  /** The kind of window that can take over these rows with another length, if there is one. */
  private def resizable(spec: KeepSpec): Option[Resizable] =
    spec.policy.resizable.filterNot(_ => spec.isCrossGroup)

  /** The expressions of the group, the order and the policy. */
  private def deciding(plan: OperatorPlan): Seq[Expression] = {
    val ofPolicy = plan match {
      case keep: KeepPlan => keep.expressions.map(_.child)
      case _: OverPlan => Nil
    }
    plan.groupExpressions ++ plan.order ++ ofPolicy
  }

  /** The columns that decide which rows a window holds, and in which order. */
  private def readBy(plan: OperatorPlan): Seq[String] = {
    val ofPunctuation = plan match {
      case keep: KeepPlan => keep.punctuation ++ keep.operation
      case _: OverPlan => Nil
    }
    val read = AttributeSet(deciding(plan) ++ plan.time ++ ofPunctuation)
    plan.content.filter(read.contains).map(_.name).distinct.sorted
  }

  /** The expressions of the group, the order and the policy with arguments that their SQL does
    * not show; None if there are none.
    */
  private def ofHidden(plan: OperatorPlan): Option[JArray] = {
    val hidden = deciding(plan).filter(HiddenArguments.digest(_).isDefined)
    Option.when(hidden.nonEmpty)(texts(hidden.map(plan.identityOf)))
  }

  private def texts(each: Seq[String]): JArray = JArray(each.map(JString(_)).toList)

  /** Compares two identities.
    *
    * @param before
    *   the identity in the checkpoint
    * @param options
    *   the arguments of the query for a restart
    * @throws org.apache.spark.sql.winops.internal.WinopsRuntimeException
    *   `WINOPS_STATE_FORMAT` if the checkpoint has another format
    */
  def plan(
      before: String,
      now: String,
      options: RestartOptions = RestartOptions()): RestartPlan = {
    val was = fields(before)
    was.get(Format) match {
      case Some(JInt(format)) if format == StateVersion.Current =>
      case other => throw StateVersion.another(other.fold[Any]("unknown")(_.values))
    }
    StateErrors.translated(RestartPlan.of(was, fields(now), options))
  }

  /** Returns the plan of a restart that is possible.
    *
    * @throws org.apache.spark.sql.winops.internal.WinopsRuntimeException
    *   `WINOPS_POLICY_CHANGED` with the differences if the query cannot use the state
    */
  def check(
      before: String,
      now: String,
      options: RestartOptions = RestartOptions()): RestartPlan = {
    val found = plan(before, now, options)
    val obstacles = found.obstacles
    if (obstacles.nonEmpty) {
      throw WinopsErrors.runtime(
        "WINOPS_POLICY_CHANGED",
        "before" -> obstacles.map(one => s"${one.subject} = ${one.before}").mkString(", "),
        "now" -> obstacles.map(one => s"${one.subject} = ${one.now}").mkString(", "),
        "differences" -> found.text)
    }
    found
  }

  /** Returns true if rows expire at other instants under `now` than under `before`. The two
    * identities must be compatible.
    */
  def changesDueTimes(before: String, now: String): Boolean = {
    val (was, is) = (fields(before), fields(now))
    was.get(Policy) != is.get(Policy) && !is.get(Lengths).contains(JString(Resizable.ByRows.name))
  }

  /** The name of the time column of a query whose rows wait for the watermark. */
  def timeOfWaiting(identity: String): Option[String] = {
    val own = fields(identity)
    own
      .get(Time)
      .filter(_ => own.get(Apply).contains(JString(Application.EventTime.name)))
      .collect { case JString(name) => name }
  }

  /** Returns true if the rows of a query have a time. */
  def hasTime(identity: String): Boolean = fields(identity).contains(Time)

  /** The columns of the rows that the query `before` has stored, in their order. */
  def former(before: String, now: String): Seq[FormerColumn] =
    new ColumnDifferences(fields(before)(Columns), fields(now)(Columns)).former

  /** The text of the window that an identity names. */
  def window(identity: String): Option[String] =
    fields(identity).get(Policy).collect { case JString(text) => text }

  private[state] def fields(identity: String): Map[String, JValue] = StateErrors.translated {
    Try(parse(identity)) match {
      case Success(JObject(fields)) => fields.toMap
      case _ => throw new CorruptStateException("what keep it belongs to is no JSON")
    }
  }
}
