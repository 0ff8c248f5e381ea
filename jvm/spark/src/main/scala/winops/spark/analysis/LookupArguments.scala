package winops.spark.analysis

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Union}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{Metadata, StringType}

import winops.spark.expressions.LosslessCast
import winops.spark.internal.WinopsErrors
import winops.spark.over.Watermarks
import winops.spark.plan.{GroupedOperator, Keep, KeepSpec, LookupOptions, Output}
import winops.spark.source.{StoredColumns, UnorderedRows, WithHistory}

/** Resolves the arguments of the output `lookup`, in which rows of another input read the windows
  * of the call.
  */
private[spark] object LookupArguments {
  private val Other = "lookup"
  private val On = "lookup_on"
  private val Time = "lookup_time"
  private val Before = "lookup_before"
  private val How = "lookup_how"
  private val Contents = "lookup_contents"

  private val LeftJoin = "left"
  private val InnerJoin = "inner"

  private val Names = Seq(Other, On, Time, Before, How, Contents)

  /** The advice for two columns that are compared and have different collations. */
  val SameCollation: String =
    "Give one of the two columns the collation of the other one, with COLLATE"

  /** The options of a call; None if the call has another output. */
  def optionsOf(arguments: Arguments): Option[LookupOptions] =
    if (arguments.output.contains(Output.Lookup)) {
      if (!arguments.isGiven(Other)) {
        throw WinopsErrors.argument("MISSING", Other, "the rows that look up, as TABLE(name)")
      }
      Some(
        LookupOptions(
          before = arguments.flag(Before).contains(true),
          isInner = arguments.oneOf(How, Seq(LeftJoin, InnerJoin))(identity).contains(InnerJoin),
          contents = arguments.text(Contents),
          time = arguments.text(Time)))
    } else {
      Names.find(arguments.isGiven).foreach { name =>
        throw WinopsErrors.argument("UNKNOWN", name, "it together with output => 'lookup'")
      }
      None
    }

  /** The rows of the windows together with those that read them; None for another output.
    *
    * @param table
    *   the rows of the windows, whose columns may be NULL
    * @param group
    *   the group key, over `table`
    * @param time
    *   the time column of `table`
    */
  def rowsOf(
      arguments: Arguments,
      spec: KeepSpec,
      table: LogicalPlan,
      group: Seq[Expression],
      time: Option[Attribute]): Option[AskingRows] = spec.lookup.map { options =>
    val passed = arguments.query(Other, "TABLE(name)").get
    check(spec, table, passed)
    // Their order has no effect. That of the union is the order of the rows of the windows alone.
    val other = UnorderedRows(StoredColumns(passed))
    val filled = keysOf(arguments.pairs(On), group, table, other, time) ++
      timeOf(spec, options, table, other, time)
    // Rows of the windows have one more column, however many the others have.
    val own = CreateNamedStruct(other.output.flatMap { column =>
      Seq(Literal(column.name), column.withMetadata(Metadata.empty))
    })
    val windows =
      Project(table.output :+ Alias(Literal(null, own.dataType), Keep.Lookup)(), table)
    val asking = Project(
      table.output.map { column =>
        val value = filled.getOrElse(column.exprId, Literal(null, column.dataType))
        Alias(value, column.name)()
      } :+ Alias(own, Keep.Lookup)(),
      other)
    val rows = Union(Seq(windows, asking))
    // A row of a stream may have waited since an earlier start of the query.
    val shown = (if (passed.isStreaming) other else passed).output.map { column =>
      val renewed =
        AttributeReference(column.name, column.dataType, column.nullable, column.metadata)()
      if (spec.emitsRefused || options.looksAhead) GroupedOperator.withoutWatermark(renewed)
      else renewed
    }
    val by =
      for (column <- table.output; value <- filled.get(column.exprId))
        yield s"${column.name} = ${value.references.map(_.name).mkString}"
    AskingRows(rows, rows.output.last, shown, by.sorted)
  }

  /** The columns of the output.
    *
    * @param results
    *   the columns of the aggregates
    * @param table
    *   the rows of the windows
    */
  def columnsOf(
      spec: KeepSpec,
      asking: AskingRows,
      results: Seq[Attribute],
      table: LogicalPlan): Seq[Attribute] = {
    val contents = spec.lookup.flatMap(_.contents).map { name =>
      val rows = table.output.filterNot(column => spec.operation.contains(column.name))
      OutputColumns.arrayOf(name, rows).withNullability(spec.emitsRefused || spec.emitsNullTime)
    }
    val reason = Option.when(spec.emitsRefused) {
      AttributeReference(Keep.ChangeReason, StringType, nullable = true)()
    }
    CheckKeep.names(contents.toSeq ++ reason, results)
    val added = results ++ contents ++ reason
    CheckKeep.names(added, asking.shown)
    asking.shown ++ added
  }

  private def check(spec: KeepSpec, table: LogicalPlan, other: LogicalPlan): Unit = {
    NamedColumns.all(Keep.Lookup, table.output).foreach { column =>
      throw refused(
        s"the rows of the windows have a column ${column.name}, and rows that wait to look up " +
          "are stored in a column of this name",
        "Rename or drop it before keep, for example with withColumnRenamed")
    }
    if (spec.emitsContents && spec.policy.windowNames.nonEmpty) {
      throw WinopsErrors.argument("UNKNOWN", Contents, "it with one window only")
    }
    if (spec.isCrossGroup) {
      throw refused(
        "the groups of the window depend on each other, and a row looks up one of them",
        "Use a window whose groups are independent")
    }
    if (!spec.rowsWait && !table.isStreaming) {
      throw refused(
        "the rows of a table that are not applied by their time have none as of which a row " +
          "could look a window up",
        "Name the time columns, with time => 'column' and lookup_time => 'column', and omit apply")
    }
    if (table.isStreaming && !other.isStreaming) {
      throw refused(
        "a table looks up the windows of a stream, whose rows come only after those of the table " +
          "have been read",
        "Look up over tables, or read the rows that look up as a stream")
    }
    if (!table.isStreaming && other.isStreaming) {
      throw refused(
        "a stream looks up the windows of a table, whose rows would be read in each micro-batch",
        "Read the rows of the windows as a stream")
    }
    if (startsWithTable(other)) {
      throw refused(
        "the stream that looks up starts with a table, which only the windows can",
        "Give lookup the stream without with_history")
    }
  }

  /** Returns true for rows of which some are those of a table, and not the output of an operator
    * that starts with a table.
    */
  private def startsWithTable(rows: LogicalPlan): Boolean = rows match {
    case _: WithHistory => true
    case _: GroupedOperator => false
    case other => other.children.exists(startsWithTable)
  }

  /** The values that fill the columns which the group key refers to, but for the time column,
    * which [[timeOf]] fills.
    */
  private def keysOf(
      pairs: Seq[(String, String)],
      group: Seq[Expression],
      table: LogicalPlan,
      other: LogicalPlan,
      time: Option[Attribute]): Map[ExprId, Expression] = {
    val isSame = SQLConf.get.resolver
    val read = AttributeSet(group)
    val (ofTime, columns) = table.output
      .filter(read.contains)
      .partition(column => time.exists(_.exprId == column.exprId))
    pairs.foreach { case (name, _) =>
      if (ofTime.exists(column => isSame(column.name, name))) {
        throw WinopsErrors.argument(
          "VALUE",
          On,
          s"it without $name, the time column of the windows, which $Time (time= in Python) " +
            "fills")
      }
      if (columns.isEmpty) {
        val reason =
          if (group.isEmpty) "the windows have no group key"
          else "the group key refers to no column but the time"
        throw WinopsErrors.argument(
          "UNKNOWN",
          On,
          "it with a group key over other columns than the time, or omit it (on= in Python): " +
            reason)
      }
      if (!columns.exists(column => isSame(column.name, name))) {
        throw WinopsErrors.argument(
          "VALUE",
          On,
          columns.map(_.name).mkString("the columns of the group key: ", ", ", ""))
      }
    }
    columns.map { column =>
      val name = pairs
        .collectFirst { case (key, name) if isSame(key, column.name) => name }
        .getOrElse(column.name)
      val own = NamedColumns.find(name, other.output).getOrElse {
        throw refused(
          s"the rows that look up have ${WinopsErrors.found("column", name, other.output)} for " +
            s"the column ${column.name} of the group key",
          advice("column", name, other, s"$On => named_struct('${column.name}', 'column')"))
      }
      if (!LosslessCast.hasSameCollations(own.dataType, column.dataType)) {
        throw refused(
          s"the column ${own.name} has the type ${own.dataType.sql}, and the column " +
            s"${column.name} of the group key has the type ${column.dataType.sql}, of another " +
            "collation",
          SameCollation)
      }
      if (!LosslessCast.isPossible(own.dataType, column.dataType)) {
        throw refused(
          s"the column ${own.name} has the type ${own.dataType.sql}, and not every value of it " +
            s"is one of ${column.dataType.sql}, the type of the column ${column.name} of the " +
            "group key",
          s"Cast it to ${column.dataType.sql}")
      }
      val value: Expression =
        if (own.dataType == column.dataType) own else Cast(own, column.dataType)
      column.exprId -> value
    }.toMap
  }

  /** The advice for rows that look up and do not have exactly one column of a name. */
  private def advice(kind: String, name: String, other: LogicalPlan, example: String): String =
    if (NamedColumns.all(name, other.output).isEmpty) s"Name their $kind, as in $example"
    else s"Rename all of them but one, or name another $kind, as in $example"

  /** The value that fills the time column of the windows. */
  private def timeOf(
      spec: KeepSpec,
      options: LookupOptions,
      table: LogicalPlan,
      other: LogicalPlan,
      time: Option[Attribute]): Option[(ExprId, Expression)] = {
    if (time.isEmpty && options.time.isDefined) {
      throw WinopsErrors.argument("UNKNOWN", Time, "it together with time => 'column'")
    }
    time.map { column =>
      val name = options.time.getOrElse(column.name)
      val own = NamedColumns.find(name, other.output).getOrElse {
        throw refused(
          s"the rows that look up have ${WinopsErrors.found("time column", name, other.output)}",
          advice("time column", name, other, s"$Time => 'column'"))
      }
      if (own.dataType != column.dataType) {
        throw refused(
          s"the time ${own.name} has the type ${own.dataType.sql}, and the time " +
            s"${column.name} of the windows has the type ${column.dataType.sql}",
          s"Cast ${own.name} to ${column.dataType.sql}")
      }
      if (table.isStreaming && (spec.rowsWait || spec.usesTime) && !Watermarks.isOn(own)) {
        throw WinopsErrors.analysis(
          "WINOPS_WATERMARK_REQUIRED",
          "column" -> own.name,
          "expected" -> Watermarks.advice(other, own.name, "write lookup_time => '%1$s'"))
      }
      column.exprId -> own
    }
  }

  private def refused(reason: String, expected: String): AnalysisException =
    WinopsErrors.analysis("WINOPS_LOOKUP", "reason" -> reason, "expected" -> expected)
}
