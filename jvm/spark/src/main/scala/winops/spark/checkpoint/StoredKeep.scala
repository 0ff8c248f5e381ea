package winops.spark.checkpoint

import scala.util.Try
import scala.util.control.NonFatal

import org.json4s.{JArray, JInt, JNothing, JNull, JString, JValue}
import org.json4s.jackson.JsonMethods.{parse => parseJson}

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.winops.internal.WinopsRuntimeException

import winops.policy.Policy
import winops.spark.analysis.Dialects
import winops.spark.plan.{Application, KeepPlan, KeepSpec, OperatorPlan, OverPlan, OverSpec, StoredPlans}
import winops.spark.restart.{IdentityFields, StoredTypes}
import winops.spark.source.SourcePartitions
import winops.spark.state.{StateErrors, StateGroupStore, StateVersion}
import winops.text.dialect.Dialect
import winops.window.time.Clock

/** A `keep`, or window functions, as recorded in a checkpoint. Its groups can be read without the
  * query.
  *
  * @param identity
  *   the text that [[StateIdentity]] made
  * @param group
  *   the expressions that group the rows, as written in the query
  * @param keys
  *   columns of the values of these expressions, as stored
  * @param windowNames
  *   the names of the windows, if there are several
  * @param whole
  *   plan for groups that are forgotten after an idle time
  * @param divided
  *   plan for groups without an idle time, split by key where the policy and the order of the
  *   rows allow
  */
final class StoredKeep private (
    val identity: String,
    val group: Seq[String],
    val keys: Seq[Attribute],
    val windowNames: Seq[String],
    whole: OperatorPlan,
    divided: OperatorPlan)
    extends StoredPlans {

  override def keepOf(idle: Long): KeepPlan = plan(idle) match {
    case keep: KeepPlan => keep
    case _: OverPlan => throw StateErrors.failure("it is that of window functions")
  }

  /** The columns of a stored row. */
  def content: Seq[Attribute] = whole.content

  /** Returns true if waiting rows have the column of [[SourcePartitions]]. */
  def hasSourcePartition: Boolean = whole.sourcePartition.isDefined

  /** Returns true if the `keep` has no group, so that one task has all rows. */
  def isUngrouped: Boolean = group.isEmpty

  /** The plan that reads the stored groups.
    *
    * @param idle
    *   after how much silence groups are forgotten, in milliseconds; [[Clock.Never]] for never
    */
  def plan(idle: Long): OperatorPlan =
    // Analysis does the same: a policy whose groups have an idle time is not split by key.
    if (idle == Clock.Never) divided else whole.withIdle(idle)
}

object StoredKeep extends StoredPlans.Parser {

  override def parse(identity: String, keys: Seq[Attribute]): StoredPlans =
    StoredKeep(identity, StateGroupStore.keySchema(keys))

  /** Parses the identity of a `keep`.
    *
    * @param identity
    *   the text that [[StateIdentity]] made
    * @param entryKeys
    *   the key columns of state entries
    * @throws org.apache.spark.sql.winops.internal.WinopsRuntimeException
    *   `WINOPS_STATE_FORMAT` if the identity has another format or cannot be parsed
    */
  def apply(identity: String, entryKeys: StructType): StoredKeep =
    try of(identity, entryKeys)
    catch {
      case named: WinopsRuntimeException => throw named
      case NonFatal(_) => throw unknown("identity")
    }

  private def of(identity: String, entryKeys: StructType): StoredKeep = {
    val json = parseJson(identity)
    json \ "format" match {
      case JInt(format) if format == StateVersion.Current =>
      case other => throw StateVersion.another(other.values)
    }
    val columns =
      attributes(StoredTypes.columns(json \ "columns").getOrElse(throw unknown("columns")))
    val row = StoredRow(
      group = texts(json \ "group"),
      keys = StateGroupStore.keysIn(entryKeys),
      order = texts(json \ "order"),
      application = text(json \ "apply").map { name =>
        Application.all.find(_.name == name).getOrElse(throw unknown("apply"))
      },
      time = text(json \ "time").flatMap(name => columns.find(_.name == name)),
      content = columns,
      sourcePartition =
        Option.when(json \ IdentityFields.SourcePartition != JNothing)(SourcePartitions.column))
    def stored(windowNames: Seq[String], whole: OperatorPlan, divided: OperatorPlan) =
      new StoredKeep(identity, row.group, row.keys, windowNames, whole, divided)
    if (json \ IdentityFields.Over != JNothing) {
      val plan = over(row)
      stored(Nil, plan, plan)
    } else {
      val reader = new StoredPolicy(dialectOf(json), columns, row.group.nonEmpty)
      val policy =
        text(json \ "policy")
          .flatMap(reader.read)
          .getOrElse(throw unknown("policy"))
          .copy(
            key = texts(json \ IdentityFields.Key).map(StoredPolicy.keyColumn),
            buffer = bufferOf(json))
      val followsContent = json \ "results" != JNothing
      val isOne = policy.windowNames.isEmpty
      val isWhole = json \ IdentityFields.Whole != JNothing
      val maySplit = KeepSpec.maySplit(row.application, text(json \ IdentityFields.Punctuation))
      val divided =
        if (isOne && !followsContent && !isWhole && maySplit) policy.splitByKey else policy
      stored(policy.windowNames, keep(row, reader, policy), keep(row, reader, divided))
    }
  }

  /** The number of rows behind the window; 0 if none return into it. */
  private def bufferOf(json: JValue): Long = json \ IdentityFields.Buffer match {
    case JInt(rows) => rows.toLong
    case JNothing => 0L
    case _ => throw unknown("buffer")
  }

  private def dialectOf(json: JValue): Dialect = Dialects.all
    .find(dialect => text(json \ "dialect").contains(dialect.name))
    .getOrElse(throw unknown("dialect"))

  /** The parts that the identities of all operators have. */
  private final case class StoredRow(
      group: Seq[String],
      keys: Seq[Attribute],
      order: Seq[String],
      application: Option[Application],
      time: Option[Attribute],
      content: Seq[Attribute],
      sourcePartition: Option[Attribute])

  private def over(row: StoredRow): OverPlan = OverPlan(
    spec = OverSpec(
      group = row.group,
      order = row.order,
      application = row.application,
      idleMillis = None,
      maxRows = Long.MaxValue,
      dropNullTime = false,
      flushesAtEnd = false,
      exactFloats = false),
    keys = row.keys,
    groupExpressions = row.keys,
    order = Nil,
    time = row.time,
    changeColumns = Nil,
    results = Nil,
    content = row.content,
    sourcePartition = row.sourcePartition,
    positions = Nil)

  private def keep(row: StoredRow, reader: StoredPolicy, policy: Policy): KeepPlan = KeepPlan(
    spec = KeepSpec(
      dialect = reader.dialect.name,
      policy = policy,
      group = row.group,
      order = row.order,
      application = row.application,
      maxRows = Long.MaxValue),
    keys = row.keys,
    groupExpressions = row.keys,
    shownKeys = Nil,
    expressions = reader.expressions(policy).getOrElse(throw unknown("policy")).ofRows,
    punctuation = None,
    order = Nil,
    time = row.time,
    changeColumns = Nil,
    by = Nil,
    results = Nil,
    content = row.content,
    sourcePartition = row.sourcePartition,
    positions = Nil)

  /** The text of the policy's window, or of that of OVER, in an identity of [[StateIdentity]];
    * empty if unreadable.
    */
  def windowOf(identity: String): String = Try {
    val json = parseJson(identity)
    text(json \ "policy").getOrElse {
      OverSpec.title(texts(json \ "group"), text(json \ "time").toSeq ++ texts(json \ "order"))
    }
  }.getOrElse("")

  private def attributes(columns: StructType): Seq[Attribute] =
    columns.map(c => AttributeReference(c.name, c.dataType, c.nullable, c.metadata)())

  private def text(json: JValue): Option[String] = json match {
    case JString(text) => Some(text)
    case JNothing | JNull => None
    case _ => throw unknown("identity")
  }

  private def texts(json: JValue): Seq[String] = json match {
    case JArray(values) => values.flatMap(text)
    case _ => Nil
  }

  private def unknown(what: String): Throwable =
    StateErrors.failure(s"this version of winops cannot read the $what that it was written with")
}
