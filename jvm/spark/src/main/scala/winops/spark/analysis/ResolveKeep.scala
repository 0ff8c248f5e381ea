package winops.spark.analysis

import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean

import scala.annotation.tailrec

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, ExpressionSet, NamedExpression, ScalarSubquery, SortOrder}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Complete, Max}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

import winops.policy.{Origin, Policy, Scope, StepOrder}
import winops.spark.expressions.{ExpressionBudget, PolicyExpressions, RedactingExpression, UnqualifiedSql}
import winops.spark.internal.WinopsErrors
import winops.spark.plan.{AggMode, Application, Keep, KeepSpec, Output}
import winops.spark.row.KeyTypes
import winops.spark.source.{SourceOrder, SourcePartitions}
import winops.text.dialect.Dialect

/** Resolves a call of `keep` to a [[Keep]]. Throws an error that names the missing or wrong
  * argument otherwise.
  */
object ResolveKeep extends Rule[LogicalPlan] with Logging {
  private val FailOnNullTime = "error"
  private val DropNullTime = "drop"
  private val WaitAtEnd = "wait"
  private val FlushAtEnd = "flush"
  private val warnedOfOneTask = new AtomicBoolean
  private val warnedOfGrowth = new AtomicBoolean

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val definitions =
      plan.collect { case definition: CTERelationDef => definition.id -> definition }.toMap
    val resolved = plan.resolveOperatorsUp {
      case call: UnresolvedKeep if call.childrenResolved && call.expressions.forall(_.resolved) =>
        resolve(call, definitions)
    }
    if ((resolved eq plan) || definitions.isEmpty) resolved else withoutCopied(resolved)
  }

  /** Removes definitions of streams that nothing refers to any more. Their plans have replaced
    * the references, so Spark would read their sources twice.
    */
  @tailrec
  private def withoutCopied(plan: LogicalPlan): LogicalPlan = {
    val referred =
      plan.collectWithSubqueries { case reference: CTERelationRef => reference.cteId }.toSet
    val pruned = plan.resolveOperatorsUp { case withClause: WithCTE =>
      withClause.copy(cteDefs = withClause.cteDefs.filter { definition =>
        !definition.isStreaming || referred.contains(definition.id)
      })
    }
    if (pruned.fastEquals(plan)) plan else withoutCopied(pruned)
  }

  /** Resolves one call.
    *
    * @param definitions
    *   the plans of the WITH clause, by id
    */
  private def resolve(
      call: UnresolvedKeep,
      definitions: Map[Long, CTERelationDef]): LogicalPlan = {
    val arguments = call.arguments
    val (dialect, Understood(policy, keysInText, expressions, projected)) = windowsOf(call)
    val filter = expressions.filter.map(RedactingExpression.ofCondition)
    val table = filter.fold(call.child)(Filter(_, call.child))
    val order = orderOf(call)
    val time = arguments.text("time").map(timeColumn(table, _))
    val punctuation = arguments.text("punct").map(punctuationColumn(table, _))
    val (named, splitting) = expressions.group.splitAt(keysInText)
    val ofText = ExpressionSet(expressions.group)
    val split = checked("PARTITION BY", splitting)
    val group = ExpressionSet(groupOf(call.partitionBy, named) ++ split).toSeq.map { key =>
      if (ofText.contains(key)) RedactingExpression.of(key) else key
    }
    order.foreach(o => checkDeterministic("ORDER BY", o.child))
    val spec = specOf(dialect, arguments, policy, group, order, time, punctuation)
    checkClock(spec, expressions, table, time)
    checkOutput(spec, table)
    warnOfCosts(spec, table)
    val end = time.filter(_ => spec.usesTime && !table.isStreaming).map(greatest(_, table))
    val results = SeveralWindows.divided(
      resultsOf(spec, arguments, projected, group, call.child),
      spec,
      arguments.texts("of_windows"))
    val keep = Keep(
      spec,
      group,
      order,
      time,
      punctuation,
      expressions.ofRows,
      end,
      columnsOf(spec, time, group, table) ++ results.columns,
      results.by,
      results.values,
      followsSource = true,
      sourcePartition = None,
      table)
    val ordered = SourceOrder.of(table, definitions) match {
      case Left(operator) if keep.needsSourceOrder =>
        throw SourceOrder.required(operator.nodeName)
      case Right(_) if spec.rowsWait && table.isStreaming =>
        SourcePartitions.of(table, definitions) match {
          case Left(_) => keep.copy(followsSource = false)
          case Right(found) =>
            found.fold(keep) { case (partitioned, partition) =>
              keep.copy(sourcePartition = Some(partition), child = partitioned)
            }
        }
      case found => keep.copy(followsSource = found.isRight)
    }
    spec.output match {
      case Output.Rows => ordered
      case Output.Describe =>
        KeepDescriber.of(spec, if (keysInText > 0) Nil else call.partitionBy, time)
      case Output.WithColumns =>
        Project(withColumns(keep.rows, renewed(keep.changeColumns)), ordered)
      case _ => Project(renewed(keep.changeColumns) ++ keep.rows, ordered)
    }
  }

  /** The order of ORDER BY, or of the query in `order_by` over the same table. */
  private def orderOf(call: UnresolvedKeep): Seq[SortOrder] =
    call.arguments.query("order_by", QueriedAggregates.ExpectedOrder) match {
      case None => call.orderBy
      case Some(_) if call.orderBy.nonEmpty =>
        throw WinopsErrors.argument("DUPLICATE", "order_by", "either ORDER BY or order_by")
      case Some(query) => QueriedAggregates.order(query, call.child)
    }

  /** Wraps columns in an Alias, because a self-join renews the attributes of an Alias only. */
  private def renewed(columns: Seq[Attribute]): Seq[NamedExpression] =
    columns.map(column => Alias(column, column.name)())

  /** Appends columns. A new column takes the place of an existing one of the same name. */
  private def withColumns(
      columns: Seq[Attribute],
      added: Seq[NamedExpression]): Seq[NamedExpression] = {
    val isSame = SQLConf.get.resolver
    val (replacing, behind) =
      added.partition(one => columns.exists(column => isSame(column.name, one.name)))
    columns.map { column =>
      replacing.find(one => isSame(column.name, one.name)).getOrElse(column)
    } ++ behind
  }

  private def resultsOf(
      spec: KeepSpec,
      arguments: Arguments,
      projected: Option[Aggregates],
      group: Seq[Expression],
      table: LogicalPlan): WindowResults = {
    val aggregates = arguments.query("aggregates").map(QueriedAggregates.of(_, table))
    (spec.output, aggregates) match {
      case (Output.Agg, Some(asked)) =>
        checked("GROUP BY", asked.by.map(WindowResults.unnamed))
        WindowResults.ofContent(asked)
      case (Output.Agg, None) if projected.isDefined =>
        WindowResults.ofContent(projected.get.without(group)).redacted
      case (Output.WithColumns, Some(asked)) => WindowResults.besideRows(asked)
      case (Output.Agg | Output.WithColumns, None) =>
        throw WinopsErrors.argument(
          "MISSING",
          "aggregates",
          """an aggregate such as agg(F.avg("price")) in Python, """ +
            "aggregates => TABLE(SELECT avg(price) FROM the same table) in SQL, " +
            "or a policy that selects aggregates")
      case (_, Some(_)) =>
        throw WinopsErrors.argument(
          "UNKNOWN",
          "aggregates",
          "it together with output => 'agg' or 'withColumns'")
      case _ => WindowResults.none
    }
  }

  private def columnsOf(
      spec: KeepSpec,
      time: Option[Attribute],
      group: Seq[Expression],
      table: LogicalPlan): Seq[Attribute] = spec.output match {
    case Output.Rows | Output.WithColumns | Output.Describe => Nil
    case Output.Agg if spec.acrossGroups => Keep.resultColumns(time, Nil, spec.mode)
    case Output.Agg => Keep.resultColumns(time, group, spec.mode)
    case Output.Changes =>
      val columns = Keep.changeColumns(time) ++ Keep.windowColumn(spec.policy)
      checkNames(columns, table)
      columns
    case Output.Snapshots => Keep.snapshotColumns(time, group, table.output)
    case Output.Events => Keep.eventColumns(time, group, table.output)
  }

  private def checkOutput(spec: KeepSpec, table: LogicalPlan): Unit = {
    val tellsEvents = spec.policy.stream.order == StepOrder.Events
    SeveralWindows.checkOutput(spec)
    checkMode(spec)
    spec.output match {
      case Output.Rows if table.isStreaming =>
        throw WinopsErrors.analysis("WINOPS_ROWS_ON_STREAM")
      case Output.Events if !tellsEvents =>
        throw WinopsErrors.analysis("WINOPS_NO_EVENTS", "dialect" -> spec.dialect)
      case _ =>
    }
  }

  private def specOf(
      dialect: Dialect,
      arguments: Arguments,
      policy: Policy,
      group: Seq[Expression],
      order: Seq[SortOrder],
      time: Option[Attribute],
      punctuation: Option[Attribute]): KeepSpec = {
    val applied = arguments.oneOf("apply", Application.all)(_.name)
    if (applied.isDefined && time.isEmpty) {
      throw WinopsErrors.argument("VALUE", "apply", "it together with time => 'column'")
    }
    val flushes =
      arguments.oneOf("at_end", Seq(WaitAtEnd, FlushAtEnd))(identity).contains(FlushAtEnd)
    if (flushes && (time.isEmpty || applied.contains(Application.Arrival))) {
      throw WinopsErrors.argument(
        "VALUE",
        "at_end",
        "it together with time => 'column' and apply => 'event_time', because no other rows wait")
    }
    val ofProjection = policy.projection.isDefined && arguments.query("aggregates").isEmpty
    KeepSpec(
      dialect.name,
      policy,
      group.map(UnqualifiedSql.of),
      order.map(UnqualifiedSql.of),
      time.map(_ => applied.getOrElse(Application.EventTime)),
      arguments.text("idle").map(idleMillis),
      arguments.positiveLong("max_rows").getOrElse(KeepSpec.DefaultMaxRows),
      arguments
        .oneOf("on_null_time", Seq(FailOnNullTime, DropNullTime))(identity)
        .contains(DropNullTime),
      punctuation.map(_.name),
      arguments.oneOf("output", Output.all)(_.name).getOrElse(Output.Changes),
      arguments.positiveLong("max_content").getOrElse(KeepSpec.DefaultMaxContent),
      arguments.oneOf("mode", AggMode.all)(_.name).getOrElse(AggMode.All),
      acrossGroups = group.nonEmpty && ofProjection &&
        policy.projection.exists(_.acrossGroups),
      ofProjection = ofProjection,
      flushesAtEnd = flushes)
  }

  /** Refuses modes that do not fit the reports of a window. Where a window reports by itself, the
    * values before a step need not be those of the previous report, so the deletes of `changes`
    * would not match earlier inserts. With `select rstream`, the values are those before a step,
    * so the last ones of a micro-batch are not current and `latest` is refused.
    */
  private def checkMode(spec: KeepSpec): Unit = {
    val reports = spec.reportsByTrigger || spec.reportsWhenEmptied
    if (spec.output == Output.Agg && spec.mode == AggMode.Changes && reports) {
      throw WinopsErrors.argument(
        "VALUE",
        "mode",
        "'all' or 'latest' with a window that has its own reports")
    }
    if (spec.givesOldValues && spec.mode == AggMode.Latest) {
      throw WinopsErrors.argument("VALUE", "mode", "'all' or 'changes' with select rstream")
    }
  }

  /** The dialect of the call, and its policy. Several windows are combined into one policy. */
  private def windowsOf(call: UnresolvedKeep): (Dialect, Understood) = {
    val arguments = call.arguments
    def read(dialect: Dialect, text: String, isOne: Boolean): Understood =
      understood(dialect, text, arguments, call.child, call.partitionBy.nonEmpty, isOne)
    arguments.windows match {
      case Some((dialect, texts)) =>
        val (policy, expressions) = SeveralWindows.of(texts.map { case (name, text) =>
          val window = read(dialect, text, isOne = false)
          NamedPolicy(name, window.policy, window.expressions)
        })
        (dialect, Understood(policy, policy.group.keys.size, expressions, None))
      case None =>
        val (dialect, text) = arguments.policy
        (dialect, read(dialect, text, isOne = true))
    }
  }

  /** A parsed policy with its resolved expressions.
    *
    * @param keysInText
    *   number of group keys in the policy's text
    * @param expressions
    *   the policy's expressions over the table's columns
    * @param projected
    *   the aggregates of the policy's projection
    */
  private final case class Understood(
      policy: Policy,
      keysInText: Int,
      expressions: PolicyExpressions,
      projected: Option[Aggregates])

  /** Parses a policy and resolves its expressions.
    *
    * @param isOne
    *   whether the policy is the only window of the call
    */
  private def understood(
      dialect: Dialect,
      text: String,
      arguments: Arguments,
      table: LogicalPlan,
      isGrouped: Boolean,
      isOne: Boolean): Understood = {
    val scope = Scope(
      arguments.parameters("params"),
      table.output.map(_.name),
      originOf(arguments),
      table.output.map(column => column.name -> ColumnKinds.of(column.dataType)).toMap,
      isGrouped)
    val budget = new ExpressionBudget
    val understood = for {
      policy <- dialect.parse(text, scope)
      // Splitting by key makes groups smaller and keeps the changes the same, but aggregates and
      // snapshots would be computed for each smaller group.
      splits = isOne && arguments.text("idle").isEmpty && tellsRows(arguments)
      split = if (splits) policy.splitByKey else policy
      expressions <- PolicyExpressions
        .resolve(split, table.output, budget)
        .left
        .map(dialect.error(_, text, scope))
      projected <- policy.projection.map(Projections.resolve(_, table.output, budget)) match {
        case Some(Left(problem)) => Left(dialect.error(problem, text, scope))
        case other => Right(other.flatMap(_.toOption))
      }
    } yield Understood(split, policy.group.keys.size, expressions, projected)
    understood.fold(
      error =>
        throw WinopsErrors.policy(dialect.name, Dialects.explained(error, dialect, scope, isOne)),
      identity)
  }

  private def tellsRows(arguments: Arguments): Boolean =
    arguments.oneOf("output", Output.all)(_.name).forall {
      case Output.Agg | Output.WithColumns | Output.Snapshots => false
      case _ => true
    }

  private def originOf(arguments: Arguments): Option[Origin] =
    arguments.textOrLong("origin").map {
      case Right(millis) if -MaxOriginMillis <= millis && millis <= MaxOriginMillis =>
        Origin.At(millis)
      case Left(text) if text.equalsIgnoreCase("first") => Origin.FirstRow
      case _ =>
        throw WinopsErrors.argument("VALUE", "origin", "milliseconds since the epoch or 'first'")
    }

  // Times are microseconds in 64 bits. The limit leaves room for adding an interval.
  private val MaxOriginMillis = Long.MaxValue / 1000 / 4

  private def idleMillis(text: String): Long = {
    val interval = Option(IntervalUtils.safeStringToInterval(UTF8String.fromString(text)))
    interval
      .filter(_.months == 0)
      .flatMap(millisOf)
      .filter(_ > 0)
      .getOrElse {
        throw WinopsErrors.argument(
          "VALUE",
          "idle",
          "an interval such as '7 days', of a millisecond or more, without months")
      }
  }

  private def millisOf(interval: CalendarInterval): Option[Long] =
    try Some(IntervalUtils.getDuration(interval, TimeUnit.MILLISECONDS))
    catch { case _: ArithmeticException => None }

  private def timeColumn(table: LogicalPlan, name: String): Attribute =
    table.output.filter(column => SQLConf.get.resolver(column.name, name)) match {
      case Seq(column) =>
        column.dataType match {
          case TimestampType | TimestampNTZType => column
          case other =>
            throw WinopsErrors.analysis("WINOPS_TIME_TYPE", "column" -> name, "type" -> other.sql)
        }
      case _ => throw WinopsErrors.unknownColumn(name, table.output)
    }

  private def punctuationColumn(table: LogicalPlan, name: String): Attribute =
    table.output.filter(column => SQLConf.get.resolver(column.name, name)) match {
      case Seq(column) if column.dataType.isInstanceOf[StringType] => column
      case Seq(_) => throw WinopsErrors.argument("VALUE", "punct", "the name of a string column")
      case _ => throw WinopsErrors.unknownColumn(name, table.output)
    }

  private def groupOf(partitionBy: Seq[Expression], named: Seq[Expression]): Seq[Expression] = {
    if (named.nonEmpty && partitionBy.nonEmpty &&
      ExpressionSet(named) != ExpressionSet(partitionBy)) {
      throw WinopsErrors.analysis(
        "WINOPS_GROUP_CONFLICT",
        "policy" -> named.map(UnqualifiedSql.of).mkString(", "),
        "given" -> partitionBy.map(UnqualifiedSql.of).mkString(", "))
    }
    checked("PARTITION BY", if (named.nonEmpty) named else ExpressionSet(partitionBy).toSeq)
  }

  private def checked(clause: String, group: Seq[Expression]): Seq[Expression] = {
    group.foreach { expression =>
      checkDeterministic(clause, expression)
      if (!KeyTypes.accept(expression.dataType)) {
        throw WinopsErrors.analysis(
          "WINOPS_GROUP_TYPE",
          "expression" -> UnqualifiedSql.of(expression),
          "type" -> expression.dataType.sql)
      }
    }
    group
  }

  private def checkDeterministic(clause: String, expression: Expression): Unit =
    if (!expression.deterministic || expression.containsPattern(TreePattern.CURRENT_LIKE)) {
      throw WinopsErrors.argument("VALUE", clause, "deterministic expressions")
    }

  private def checkClock(
      spec: KeepSpec,
      expressions: PolicyExpressions,
      table: LogicalPlan,
      time: Option[Attribute]): Unit =
    time match {
      case Some(column)
          if table.isStreaming && (spec.rowsWait || spec.usesTime) &&
            !column.metadata.contains(EventTimeWatermark.delayKey) =>
        throw WinopsErrors.analysis("WINOPS_WATERMARK_REQUIRED", "column" -> column.name)
      case None if !table.isStreaming && (spec.usesTime || expressions.askForTime) =>
        throw WinopsErrors.analysis("WINOPS_TIME_REQUIRED", "policy" -> spec.policy.text)
      case _ =>
    }

  private def checkNames(columns: Seq[Attribute], table: LogicalPlan): Unit = {
    val taken = columns.map(_.name)
    table.output.map(_.name).find(name => taken.exists(SQLConf.get.resolver(_, name))).foreach {
      name => throw WinopsErrors.analysis("WINOPS_COLUMN_CONFLICT", "column" -> name)
    }
  }

  private def greatest(time: Attribute, table: LogicalPlan): Expression = {
    val max = AggregateExpression(Max(time), Complete, isDistinct = false)
    ScalarSubquery(Aggregate(Nil, Seq(Alias(max, "end")()), table))
  }

  private def warnOfCosts(spec: KeepSpec, table: LogicalPlan): Unit = {
    if (spec.runsInOneTask && warnedOfOneTask.compareAndSet(false, true)) {
      logWarning(if (spec.couplesGroups) {
        s"[${spec.policy.text}] has groups that depend on each other, so it runs in one task."
      } else {
        "keep without PER, PARTITION BY or per= has one window for all rows and runs in one task."
      })
    }
    if (spec.group.nonEmpty && table.isStreaming && spec.idleMillis.isEmpty &&
      warnedOfGrowth.compareAndSet(false, true)) {
      logWarning(
        s"[${spec.policy.text}] keeps every group forever; idle= removes groups without rows.")
    }
  }
}
