package winops.spark.analysis

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Cast, EvalMode, Expression, ExpressionSet, Literal, ScalarSubquery, SortOrder}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Complete, Max}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import winops.policy.{Policy, Scope}
import winops.spark.expressions.{CommonExpressions, ExpressionBudget, PolicyExpressions, RedactingExpression, UnqualifiedSql}
import winops.spark.internal.WinopsErrors
import winops.spark.plan.{AggMode, Application, ColumnsOfInput, FramedFunction, InSourceOrder, Keep, KeepSpec, LookupOptions, OperatorSpec, Output, RestartOptions}
import winops.spark.source.StoredColumns
import winops.text.dialect.Dialect

/** Resolves a call of `keep` to a [[Keep]], and one of `asof_join` to a lookup. Throws an error
  * that names the missing or wrong argument otherwise.
  */
object ResolveKeep extends Rule[LogicalPlan] {
  private val FailOnNullTime = "error"
  private val DropNullTime = "drop"
  private val WaitAtEnd = "wait"
  private val FlushAtEnd = "flush"
  private val RefuseChange = "refuse"
  private val CarryRows = "carry"

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val definitions =
      plan.collect { case definition: CTERelationDef => definition.id -> definition }.toMap
    val resolved = plan.resolveOperatorsUp {
      case call: UnresolvedKeep if call.childrenResolved && call.expressions.forall(_.resolved) =>
        resolve(call, definitions)
      case call: UnresolvedAsOf if call.childrenResolved =>
        AsOfArguments.planOf(call, definitions)
    }
    if ((resolved eq plan) || definitions.isEmpty) resolved
    else InSourceOrder.withoutUnused(resolved)
  }

  /** Resolves one call.
    *
    * @param definitions
    *   the plans of the WITH clause, by id
    * @param adapted
    *   sets the options of a lookup that no argument has
    */
  private[analysis] def resolve(
      call: UnresolvedKeep,
      definitions: Map[Long, CTERelationDef],
      adapted: LookupOptions => LookupOptions = identity): LogicalPlan = {
    val arguments = call.arguments
    val (dialect, resolved) = policyOf(call)
    val expressions = resolved.expressions
    CheckSupportedPolicy(resolved.policy)
    val filter = expressions.filter.map(RedactingExpression.ofCondition)
    val rows = arguments.afterHistory(call.child)
    val table = stored(filter.fold(rows)(Filter(_, rows)), arguments)
    val order = orderOf(call).map(ColumnsOfInput.in(_, table.output))
    val time = arguments.text("time").map(timeColumn(table, _, arguments))
    val punctuation = arguments.text("punct").map(punctuationColumn(table, _))
    val operation = KeyArguments.operationOf(arguments, table.output)
    val (named, splitting) = expressions.group.splitAt(resolved.keysInText)
    val ofText = ExpressionSet(expressions.group)
    val split = CheckKeep.group("PARTITION BY", splitting)
    val partitionBy = call.partitionBy.map(ColumnsOfInput.in(_, table.output))
    val group = ExpressionSet(groupOf(partitionBy, named) ++ split).toSeq.map { key =>
      if (ofText.contains(key)) RedactingExpression.of(key) else spelled(key, table)
    }
    KeyArguments.checkOperation(operation, group, resolved.policy.key)
    order.foreach(o => CheckKeep.deterministic("ORDER BY", o.child))
    def textOf(key: Expression) = FramedFunction.writtenText(key, table.output)
    val written = specOf(
      dialect,
      arguments,
      resolved.policy,
      group.map(textOf),
      order.map(textOf),
      time,
      punctuation)
    val ofCall =
      written.copy(restart = restartOf(arguments, table), lookup = written.lookup.map(adapted))
    val spec = KeyArguments.in(ofCall, arguments, operation)
    CheckKeep.clock(spec, expressions, table, time)
    CheckKeep.output(spec, table)
    CheckKeep.costs(spec, table)
    val results = SeveralWindows.divided(
      OutputColumns
        .results(spec, arguments, resolved.projected, group, call.child, table.output),
      spec,
      arguments.texts("of_windows"))
    val asking = LookupArguments.rowsOf(arguments, spec, table, group, time)
    val ordered = InSourceOrder.of(asking.fold(table)(_.rows), spec, definitions)
    val lookup = for (options <- spec.lookup; rows <- asking) yield options.copy(by = rows.by)
    val keep = Keep(
      spec = spec.copy(lookup = lookup),
      group = group,
      order = order,
      time = time,
      punctuation = punctuation,
      expressionsOfRows = expressions.ofRows,
      // Behind the last row that looks up, nothing is emitted.
      end = time
        .filter(_ => spec.usesTime && !table.isStreaming && asking.isEmpty)
        .map(greatest(_, table)),
      changeColumns = asking.fold(OutputColumns.of(spec, time, group, table) ++ results.columns)(
        LookupArguments.columnsOf(spec, _, results.columns, table)),
      by = results.by,
      results = results.values,
      followsSource = ordered.followsSource,
      sourcePartition = ordered.sourcePartition,
      child = ordered.child,
      operation = operation,
      asking = asking.map(_.asking)).mapExpressions(CommonExpressions.inlined)
    // After the columns of the output, whose conflict with _change_type says the same.
    CheckKeep.operations(spec, table.output)
    spec.output match {
      case Output.Describe =>
        KeepDescriber.of(spec, if (resolved.keysInText > 0) Nil else partitionBy, time)
      case _ => OutputColumns.arranged(keep)
    }
  }

  /** The rows with the columns of stored rows. Rows that look up lack the columns of the windows,
    * so these may be NULL in a table too.
    */
  private def stored(rows: LogicalPlan, arguments: Arguments): LogicalPlan =
    if (arguments.output.contains(Output.Lookup)) StoredColumns(rows) else StoredColumns.of(rows)

  /** The order of ORDER BY, or of the query in `order_by` over the same table. */
  private def orderOf(call: UnresolvedKeep): Seq[SortOrder] =
    call.arguments.query("order_by", QueriedAggregates.ExpectedOrder) match {
      case None => call.orderBy
      case Some(_) if call.orderBy.nonEmpty =>
        throw WinopsErrors.argument("DUPLICATE", "order_by", "either ORDER BY or order_by")
      case Some(query) => QueriedAggregates.order(query, call.child)
    }

  private def restartOf(arguments: Arguments, table: LogicalPlan): RestartOptions = {
    val choice = arguments.oneOf("on_change", Seq(RefuseChange, CarryRows))(identity)
    val fill = arguments.constants("fill").flatMap { case (name, value) =>
      val columns = table.output.filter(column => SQLConf.get.resolver(column.name, name))
      if (columns.isEmpty) throw WinopsErrors.unknownColumn("fill", name, table.output)
      columns.groupMap(_.name)(filled(_, value)).map { case (own, values) =>
        own -> values.distinct
      }
    }
    RestartOptions(choice.contains(CarryRows), fill.toMap)
  }

  /** The value of stored rows in a column. */
  private def filled(column: Attribute, value: Literal): Expression = {
    val zone = Some(SQLConf.get.sessionLocalTimeZone)
    val converted =
      if (!Cast.canAnsiCast(value.dataType, column.dataType)) None
      else {
        val cast = Cast(value, column.dataType, zone, EvalMode.ANSI)
        Try(Literal.create(cast.eval(), column.dataType)).toOption
      }
    converted.getOrElse {
      throw WinopsErrors.argument(
        "VALUE",
        "fill",
        s"a value of the type ${column.dataType.sql} for the column ${column.name}")
    }
  }

  private def specOf(
      dialect: Dialect,
      arguments: Arguments,
      policy: Policy,
      group: Seq[String],
      order: Seq[String],
      time: Option[Attribute],
      punctuation: Option[Attribute]): KeepSpec = {
    val applied = applicationOf(arguments)
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
    val lookup = LookupArguments.optionsOf(arguments)
    val dropNullTime = arguments
      .oneOf("on_null_time", Seq(FailOnNullTime, DropNullTime))(identity)
      .contains(DropNullTime)
    // Rows of the windows that have no effect are not emitted beside rows that look up.
    val emitsWithoutTime = KeyArguments.emitsRefused(arguments) && lookup.isEmpty
    KeepSpec(
      dialect = dialect.name,
      policy = policy,
      group = group,
      order = order,
      application = time.map(_ => applied.getOrElse(Application.EventTime)),
      idleMillis = arguments.idleMillis,
      maxRows = arguments.positiveLong("max_rows").getOrElse(OperatorSpec.DefaultMaxRows),
      dropNullTime = dropNullTime || emitsWithoutTime,
      punctuation = punctuation.map(_.name),
      output = arguments.output.getOrElse(Output.Changes),
      maxContent = arguments.positiveLong("max_content").getOrElse(KeepSpec.DefaultMaxContent),
      mode = arguments.oneOf("mode", AggMode.all)(_.name).getOrElse(AggMode.All),
      acrossGroups = group.nonEmpty && ofProjection &&
        policy.projection.exists(_.acrossGroups),
      ofProjection = ofProjection,
      flushesAtEnd = flushes,
      emitsReasons = arguments.flag("reason").getOrElse(false),
      lookup = lookup)
  }

  /** The order that the call asks for; None if it has the default. */
  private def applicationOf(arguments: Arguments): Option[Application] =
    arguments.oneOf("apply", Application.all)(_.name)

  /** The dialect of the call, and its policy. Several windows are combined into one policy. */
  private def policyOf(call: UnresolvedKeep): (Dialect, ResolvedPolicy) = {
    val arguments = call.arguments
    val columns = stored(call.child, arguments).output
    def read(dialect: Dialect, text: String, isOne: Boolean): ResolvedPolicy =
      parsed(dialect, text, arguments, columns, call.partitionBy.nonEmpty, isOne)
    arguments.windows match {
      case Some((dialect, texts)) =>
        if (arguments.names("key").nonEmpty) {
          throw WinopsErrors.analysis(
            "WINOPS_KEY_WINDOW",
            "policy" -> texts.map(_._2).mkString(", "),
            "reason" -> "several windows hold the rows; write a keep for each window")
        }
        val windows = texts.map { case (name, text) =>
          name -> read(dialect, text, isOne = false)
        }
        (dialect, SeveralWindows.of(windows))
      case None =>
        val (dialect, text) = arguments.policy
        (dialect, read(dialect, text, isOne = true))
    }
  }

  /** Parses a policy and resolves its expressions.
    *
    * @param columns
    *   the columns of the rows in a window
    * @param isOne
    *   whether the policy is the only window of the call
    */
  private def parsed(
      dialect: Dialect,
      text: String,
      arguments: Arguments,
      columns: Seq[Attribute],
      isGrouped: Boolean,
      isOne: Boolean): ResolvedPolicy = {
    val scope = Scope(
      arguments.parameters("params"),
      columns.map(_.name),
      arguments.origin,
      columns.map(column => column.name -> ColumnKinds.of(column.dataType)).toMap,
      isGrouped)
    val budget = new ExpressionBudget
    val resolved = for {
      parsed <- dialect.parse(text, scope)
      policy = parsed.copy(
        key = KeyArguments.keyOf(arguments, columns),
        buffer = KeyArguments.bufferOf(arguments))
      // Splitting by key makes groups smaller and keeps the changes the same, but aggregates and
      // snapshots would be computed for each smaller group.
      splits = isOne && arguments.text("idle").isEmpty && emitsRows(arguments) &&
        !KeyArguments.emitsRowIds(arguments, isKeyed = false) &&
        KeepSpec.maySplit(applicationOf(arguments), arguments.text("punct"))
      split = if (splits) policy.splitByKey else policy
      expressions <- PolicyExpressions
        .resolve(split, columns, budget)
        .left
        .map(dialect.error(_, text, scope))
      projected <- policy.projection.map(Projections.resolve(_, columns, budget)) match {
        case Some(Left(problem)) => Left(dialect.error(problem, text, scope))
        case other => Right(other.flatMap(_.toOption))
      }
      splitKeys = split.group.keys.size - policy.group.keys.size
    } yield ResolvedPolicy(split, expressions, splitKeys, projected)
    resolved.fold(
      error =>
        throw WinopsErrors.policy(dialect.name, Dialects.explained(error, dialect, scope, isOne)),
      identity)
  }

  private def emitsRows(arguments: Arguments): Boolean = arguments.output.forall {
    case Output.Agg | Output.WithColumns | Output.Lookup | Output.Snapshots => false
    case _ => true
  }

  private def timeColumn(table: LogicalPlan, name: String, arguments: Arguments): Attribute =
    checkedTime(
      NamedColumns.of("time", name, table.output),
      if (arguments.output.contains(Output.Lookup)) LookupArguments.OfWindows else "")

  /** Returns a column if it can be a time.
    *
    * @param ofInput
    *   the input that has the column, behind its name in an error
    */
  private[analysis] def checkedTime(column: Attribute, ofInput: String): Attribute =
    column.dataType match {
      case TimestampType | TimestampNTZType => column
      case other =>
        throw WinopsErrors.analysis(
          "WINOPS_TIME_TYPE",
          "column" -> s"${column.name}$ofInput",
          "type" -> other.sql)
    }

  private def punctuationColumn(table: LogicalPlan, name: String): Attribute =
    NamedColumns.of("punct", name, table.output) match {
      case column if column.dataType.isInstanceOf[StringType] => column
      case _ => throw WinopsErrors.argument("VALUE", "punct", "the name of a string column")
    }

  private def groupOf(partitionBy: Seq[Expression], named: Seq[Expression]): Seq[Expression] = {
    if (named.nonEmpty && partitionBy.nonEmpty &&
      ExpressionSet(named) != ExpressionSet(partitionBy)) {
      throw WinopsErrors.analysis(
        "WINOPS_GROUP_CONFLICT",
        "policy" -> named.map(UnqualifiedSql.of).mkString(", "),
        "given" -> partitionBy.map(UnqualifiedSql.of).mkString(", "))
    }
    CheckKeep.group(
      "PARTITION BY",
      if (named.nonEmpty) named else ExpressionSet(partitionBy).toSeq)
  }

  /** Gives columns the names that they have in the table. Spark resolves a name in another case
    * and keeps that case, but the name is part of the state's identity.
    */
  private def spelled(key: Expression, table: LogicalPlan): Expression = key.transform {
    case column: Attribute => table.output.find(_.exprId == column.exprId).getOrElse(column)
  }

  private def greatest(time: Attribute, table: LogicalPlan): Expression = {
    val max = AggregateExpression(Max(time), Complete, isDistinct = false)
    ScalarSubquery(Aggregate(Nil, Seq(Alias(max, "end")()), table))
  }
}
