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

  // The arguments in errors.
  private val OnOfCall = s"on= of lookup (in SQL $On)"
  private val TimeOfCall = s"time= of lookup (in SQL $Time)"
  private val ContentsOfCall = s"contents= of lookup (in SQL $Contents)"
  private val EmitsLate = "late='emit' (in SQL late => 'emit')"

  /** The input that has a column, in errors. */
  val OfWindows: String = " of the rows of the windows"
  private val OfOther = " of the rows that look up"

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
    checkNames(results, contents, reason)
    val input =
      if (spec.lookup.exists(_.ofJoin)) "The left side of the as-of join has"
      else "The rows that look up have"
    val orRename = "or rename the column before, for example with withColumnRenamed"
    CheckKeep.names(
      results,
      asking.shown,
      input,
      "Give the aggregate another name, as a key of the dict of lookup or with AS in SQL, " +
        orRename)
    CheckKeep.names(
      contents.toSeq,
      asking.shown,
      input,
      s"Give another name with $ContentsOfCall, $orRename")
    CheckKeep.names(reason.toSeq, asking.shown, input, s"Omit $EmitsLate, $orRename")
    asking.shown ++ results ++ contents ++ reason
  }

  /** Refuses two columns of one name among those that a lookup adds. */
  private def checkNames(
      results: Seq[Attribute],
      contents: Option[Attribute],
      reason: Option[Attribute]): Unit = {
    def isIn(columns: Iterable[Attribute], name: String) =
      columns.exists(column => SQLConf.get.resolver(column.name, name))
    contents.foreach { own =>
      if (isIn(results, own.name)) {
        throw WinopsErrors.argument(
          "VALUE",
          ContentsOfCall,
          s"a name that no aggregate has; ${own.name} is the name of one")
      }
      if (isIn(reason, own.name)) {
        throw WinopsErrors.argument(
          "VALUE",
          ContentsOfCall,
          s"another name than ${own.name}, the column of $EmitsLate")
      }
    }
    reason.foreach { own =>
      if (isIn(results, own.name)) {
        throw WinopsErrors.argument(
          "VALUE",
          "the dict of lookup (in SQL aggregates)",
          s"another name than ${own.name}, the column of $EmitsLate")
      }
    }
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
        s"Name the time columns, with time='column' of keep (in SQL time => 'column') and " +
          s"time='column' of lookup (in SQL $Time => 'column'), and omit apply")
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
  def startsWithTable(rows: LogicalPlan): Boolean = rows match {
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
    pairs.foreach { case (name, given) =>
      if (ofTime.exists(column => isSame(column.name, name))) {
        throw WinopsErrors.argument(
          "VALUE",
          OnOfCall,
          s"it without $name, the time column of the windows, which $TimeOfCall fills")
      }
      if (columns.isEmpty) {
        val reason =
          if (group.isEmpty) "the windows have no group key"
          else "the group key refers to no column but the time"
        throw WinopsErrors.argument(
          "UNKNOWN",
          OnOfCall,
          s"it with a group key over other columns than the time, or omit it: $reason")
      }
      if (!columns.exists(column => isSame(column.name, name))) {
        val key = columns
          .map(_.name)
          .find(own => !pairs.exists { case (other, _) => isSame(own, other) })
          .getOrElse(columns.head.name)
        throw WinopsErrors.argument(
          "VALUE",
          OnOfCall,
          columns.map(_.name).mkString("the columns of the group key: ", ", ", "") +
            s". $name is none of them. If $given is a column of the rows that look up, write " +
            onOf(key, given))
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
          advice("column", name, other, onOf(column.name, "column")))
      }
      if (!LosslessCast.hasSameCollations(own.dataType, column.dataType)) {
        throw refused(s"${typeOf(own, column)}, of another collation", SameCollation)
      }
      if (!LosslessCast.isPossible(own.dataType, column.dataType)) {
        throw refused(
          s"${typeOf(own, column)}, and not every value of the former is one of the latter",
          s"Write CAST(${own.name} AS ${column.dataType.sql})")
      }
      if (LosslessCast.mixesStrings(own.dataType, column.dataType)) {
        throw refused(
          s"${typeOf(own, column)}, and a string equals no value of another type",
          s"Write CAST(${own.name} AS ${column.dataType.sql}) if equal texts are equal keys")
      }
      val value: Expression =
        if (own.dataType == column.dataType) own else Cast(own, column.dataType)
      column.exprId -> value
    }.toMap
  }

  /** The types of a column of the rows that look up and of the column of the group key. */
  private def typeOf(own: Attribute, key: Attribute): String =
    s"the column ${own.name}$OfOther has the type ${own.dataType.sql}, and the column " +
      s"${key.name} of the group key has the type ${key.dataType.sql}"

  /** The argument that names a column of the rows that look up for one of the group key. */
  private def onOf(key: String, column: String): String =
    s"""on={"$key": "$column"}, in SQL $On => named_struct('$key', '$column')"""

  /** The advice for rows that look up and do not have exactly one column of a name. */
  private def advice(kind: String, name: String, other: LogicalPlan, example: String): String =
    if (NamedColumns.all(name, other.output).isEmpty) {
      s"Name their $kind, as in $example. Their columns are " +
        other.output.map(_.name).mkString(", ")
    } else s"Rename all of them but one, or name another $kind, as in $example"

  /** The value that fills the time column of the windows. */
  private def timeOf(
      spec: KeepSpec,
      options: LookupOptions,
      table: LogicalPlan,
      other: LogicalPlan,
      time: Option[Attribute]): Option[(ExprId, Expression)] = {
    if (time.isEmpty && options.time.isDefined) {
      throw WinopsErrors.argument(
        "UNKNOWN",
        TimeOfCall,
        "it together with time='column' of keep, in SQL time => 'column'")
    }
    time.map { column =>
      val name = options.time.getOrElse(column.name)
      val own = NamedColumns.find(name, other.output).getOrElse {
        throw refused(
          s"the rows that look up have ${WinopsErrors.found("time column", name, other.output)}",
          advice("time column", name, other, s"time='column', in SQL $Time => 'column'"))
      }
      if (own.dataType != column.dataType) {
        throw refused(
          s"the time column ${own.name}$OfOther has the type ${own.dataType.sql}, and the time " +
            s"column ${column.name}$OfWindows has the type ${column.dataType.sql}",
          s"Write CAST(${own.name} AS ${column.dataType.sql}), or name another column with " +
            s"time='column', in SQL $Time => 'column'")
      }
      if (table.isStreaming && (spec.rowsWait || spec.usesTime) && !Watermarks.isOn(own)) {
        throw WinopsErrors.analysis(
          "WINOPS_WATERMARK_REQUIRED",
          "column" -> s"${own.name}$OfOther",
          "expected" -> Watermarks.advice(
            other,
            own.name,
            "write time='%1$s' of lookup, in SQL lookup_time => '%1$s'"))
      }
      column.exprId -> own
    }
  }

  private def refused(reason: String, expected: String): AnalysisException =
    WinopsErrors.analysis("WINOPS_LOOKUP", "reason" -> reason, "expected" -> expected)
}
