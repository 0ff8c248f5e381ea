package winops.spark.harness

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Ascending, Attribute, AttributeReference, Expression, FunctionTableSubqueryArgumentExpression, Literal, NamedArgumentExpression, RowOrdering, SortOrder, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.json.{CreateJacksonParser, JSONOptions, JacksonParser}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LocalRelation, LogicalPlan}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{ArrayType, LongType, MetadataBuilder, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.analysis.{ResolveKeep, UnresolvedKeep}
import winops.spark.input.GroupedRows
import winops.spark.internal.WinopsErrors
import winops.spark.plan.{GroupedOperator, Keep, OperatorPlan, Output, Over}
import winops.spark.row.KeyHash
import winops.window.time.Clock

/** The plan of a call over rows given as JSON, as Spark's analyzer and planner make it, and the
  * rows in the form that its task reads.
  *
  * @param operator
  *   the resolved call; its rows have a last column with their number
  */
final class WindowPlan private[harness] (operator: GroupedOperator, schema: StructType) {
  private val relation = operator.child.collectLeaves().head.output
  private val keys = operator.keys
  private val position = Alias(relation.last, "_position")()

  val plan: OperatorPlan = operator.plan(
    keys.map(_.toAttribute),
    if (operator.followsSource) Seq(position.toAttribute) else Nil)

  /** True if time stops at the greatest time of a table's rows. */
  val hasEnd: Boolean = operator match {
    case keep: Keep => keep.end.isDefined
    case _: Over => false
  }

  val input: Seq[Attribute] =
    operator.child.output ++ keys.collect { case alias: Alias => alias.toAttribute } :+
      position.toAttribute

  private val toInput = UnsafeProjection.create(
    operator.child.output ++ keys.collect { case Alias(key, _) => key } :+ relation.last,
    operator.child.output)

  private val computed = ComputedRows.of(operator.child)

  private val parser = new JacksonParser(
    schema,
    new JSONOptions(
      Map("mode" -> "FAILFAST", "allowNonNumericNumbers" -> "true"),
      SQLConf.get.sessionLocalTimeZone,
      ""),
    allowArrayAsStructs = false)

  private val numbered = UnsafeProjection.create(relation.map(_.dataType).toArray)

  private val hash = KeyHash(plan.keys, input)
  private var arrived = 0L

  /** Reads rows, and numbers them in the order of their arrival. Omits the rows that the policy
    * ignores. If one of the rows does not fit the columns, none gets a number.
    */
  def read(rows: Seq[JsonNode]): Seq[UnsafeRow] = rows.map(valuesOf).flatMap { values =>
    val row = numbered(InternalRow.fromSeq(values :+ arrived))
    arrived += 1
    computed(row).map(toInput(_).copy())
  }

  /** Numbers rows from 0 again. */
  def restart(): Unit = arrived = 0L

  private def valuesOf(json: JsonNode): Seq[Any] = parser
    .parse[String](json.toString, CreateJacksonParser.string, UTF8String.fromString)
    .iterator
    .next()
    .toSeq(schema)

  /** The rows of one task, by group. */
  def grouped(rows: Seq[UnsafeRow]): GroupedRows = {
    val sorted =
      if (plan.spec.runsInOneTask) rows.sorted(RowOrdering.create(plan.inputOrder, input))
      else rows.sortBy(hash(_) ^ Long.MinValue)
    GroupedRows(plan, input, sorted.iterator)
  }

  /** The greatest time of rows in milliseconds; None if no row has one. */
  def lastTime(rows: Seq[UnsafeRow]): Option[Long] = rows
    .filterNot(_.isNullAt(plan.timeOrdinal))
    .map(row => Clock.floorToMillis(row.getLong(plan.timeOrdinal)))
    .maxOption
}

object WindowPlan {

  /** The column with the number of a row in the order of arrival. */
  private[harness] val RowNumber = "_row_number"

  /** The plan of a call, whose changes have reasons.
    *
    * @param isStreaming
    *   true for a stream, whose time column has a watermark; false for a table
    */
  def of(call: WindowCall, isStreaming: Boolean): WindowPlan =
    new WindowPlan(keepOf(call, isStreaming), call.schema)

  /** The node of a call, whose changes have reasons. */
  def keepOf(call: WindowCall, isStreaming: Boolean): Keep = keepIn(resolved(call, isStreaming))

  /** The node of a resolved call. */
  private[harness] def keepIn(resolved: LogicalPlan): Keep =
    resolved.collectFirst { case keep: Keep => keep }.get

  /** The plan of a call, with the columns of its output. Changes, the output of a call that names
    * no other one, have reasons.
    */
  private[harness] def resolved(call: WindowCall, isStreaming: Boolean): LogicalPlan = {
    val output = call.arguments.collectFirst { case ("output", Literal(name, _)) =>
      name.toString
    }
    val reasons = Seq("reason" -> Literal(true))
    resolved(call, isStreaming, if (output.forall(_ == Output.Changes.name)) reasons else Nil)
  }

  private def resolved(
      call: WindowCall,
      isStreaming: Boolean,
      more: Seq[(String, Expression)]): LogicalPlan = {
    val columns = call.schema.map(field => AttributeReference(field.name, field.dataType)())
    val time = call.arguments.collectFirst { case ("time", Literal(name, _)) => name.toString }
    val stamped = columns.map { column =>
      if (isStreaming && time.exists(SQLConf.get.resolver(_, column.name))) watermarked(column)
      else column
    }
    val number = AttributeReference(RowNumber, LongType, nullable = false)()
    val relation = LocalRelation(stamped :+ number, Nil, isStreaming)
    val table = FunctionTableSubqueryArgumentExpression(
      relation,
      partitionByExpressions = call.per.map(column("per", _, stamped)),
      orderByExpressions =
        call.orderBy.map(name => SortOrder(column("order_by", name, stamped), Ascending)))
    val key = Option.when(call.key.nonEmpty) {
      "key" -> Literal.create(call.key, ArrayType(StringType))
    }
    val named = (call.arguments ++ key ++ more).map { case (name, value) =>
      NamedArgumentExpression(name, value)
    }
    ResolveKeep(UnresolvedKeep.of(table +: named))
  }

  /** The description of a call in English. */
  def sentence(call: WindowCall): String =
    resolved(call, isStreaming = true, Seq("output" -> Literal("describe"))).collectFirst {
      case LocalRelation(_, Seq(row), _, _) => row.getString(0)
    }.get

  /** A column whose watermark has no delay. */
  private[harness] def watermarked(column: AttributeReference): AttributeReference =
    column.withMetadata(new MetadataBuilder().putLong(EventTimeWatermark.delayKey, 0L).build())

  private def column(
      argument: String,
      name: String,
      columns: Seq[AttributeReference]): Expression =
    columns
      .find(column => SQLConf.get.resolver(column.name, name))
      .getOrElse(throw WinopsErrors.unknownColumn(argument, name, columns))
}
