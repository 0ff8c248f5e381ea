package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan, Project}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import winops.policy.Policy
import winops.spark.expressions.UnqualifiedSql
import winops.spark.internal.WinopsErrors
import winops.spark.plan.{AggMode, Keep, KeepSpec, Output}

/** The columns that each output of a `keep` has. */
private[spark] object OutputColumns {

  /** The columns that a window adds to those of its rows, or that replace them. */
  def of(
      spec: KeepSpec,
      time: Option[Attribute],
      group: Seq[Expression],
      table: LogicalPlan): Seq[Attribute] = spec.output match {
    case Output.Rows | Output.WithColumns | Output.Lookup | Output.Describe => Nil
    case Output.Agg => resultColumns(spec, time, group)
    case Output.Changes =>
      val columns = (changeColumns(time) ++ identityColumns(spec) ++ windowColumn(spec.policy))
        .map(column => if (spec.emitsRefused) nullable(column) else column) ++ reasonColumn(spec)
      CheckKeep.names(
        spec,
        columns,
        table.output.filterNot(_.name == spec.operation.getOrElse("")))
      columns
    case Output.Snapshots => snapshotColumns(time, group, table.output)
    case Output.Events => eventColumns(time, group, table.output)
  }

  /** The computed columns of the call's aggregates, or of the policy's own projection.
    *
    * @param projected
    *   the aggregates of the policy's projection
    * @param table
    *   the rows of the call
    * @param stored
    *   the columns of the rows in a window
    */
  def results(
      spec: KeepSpec,
      arguments: Arguments,
      projected: Option[Aggregates],
      group: Seq[Expression],
      table: LogicalPlan,
      stored: Seq[Attribute]): WindowResults = {
    val aggregates = arguments.query("aggregates").map(QueriedAggregates.of(_, table, stored))
    (spec.output, aggregates) match {
      case (Output.Agg, Some(requested)) =>
        CheckKeep.group("GROUP BY", requested.by.map(WindowResults.unnamed))
        WindowResults.ofContent(requested)
      case (Output.Agg, None) if projected.isDefined =>
        WindowResults.ofContent(ofPolicy(projected.get, spec, group)).redacted
      case (Output.WithColumns, Some(requested)) => WindowResults.besideRows(requested)
      case (Output.Lookup, Some(requested)) =>
        if (requested.by.nonEmpty) {
          throw WinopsErrors.analysis(
            "WINOPS_AGGREGATES",
            "reason" ->
              ("a lookup has one row of aggregates for each row. Write the aggregates without " +
                "GROUP BY, and columns of the window within an aggregate such as last(price)"))
        }
        WindowResults.ofContent(requested)
      case (Output.Lookup, None) if spec.emitsContents => WindowResults.none
      case (Output.Lookup, None) =>
        throw WinopsErrors.argument(
          "MISSING",
          "aggregates",
          """aggregates such as lookup(other, {"mean": F.avg("price")}) in Python, """ +
            "aggregates => TABLE(SELECT avg(price) AS mean FROM the same table) in SQL, or the " +
            "name of a column with the rows of the window: contents in Python, lookup_contents " +
            "in SQL")
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
          "it together with output => 'agg', 'withColumns' or 'lookup'")
      case _ => WindowResults.none
    }
  }

  /** The values of a policy's projection. Values of each group follow the columns of the group
    * key, so a key among the values is not repeated. Values across groups have all columns of
    * their list.
    */
  private def ofPolicy(values: Aggregates, spec: KeepSpec, group: Seq[Expression]): Aggregates =
    if (spec.acrossGroups) values
    else values.withoutKeys(group.map(key => keyName(key) -> key))

  /** Puts the columns of a `keep` into the order of its output. */
  def arranged(keep: Keep): LogicalPlan = keep.spec.output match {
    case Output.Rows => if (keep.operation.isEmpty) keep else Project(keep.shownRows, keep)
    case Output.Agg => Project(renewed(withoutRepeatedKeys(keep)), keep)
    case Output.WithColumns =>
      Project(withColumns(keep.shownRows, renewed(keep.changeColumns)), keep)
    case Output.Changes => Project(renewed(keep.changeColumns) ++ keep.shownRows, keep)
    case _ => Project(renewed(keep.changeColumns) ++ keep.rows, keep)
  }

  /** The columns of an `agg` without the results that repeat a group key under its own name. The
    * operator computes them nevertheless, because a checkpoint names the results of its query.
    */
  private def withoutRepeatedKeys(keep: Keep): Seq[Attribute] =
    if (keep.spec.acrossGroups) keep.changeColumns
    else {
      val (described, results) =
        keep.changeColumns.splitAt(keep.changeColumns.size - keep.results.size)
      described ++ results.zip(keep.results).collect {
        case (column, value) if !keep.group.exists(isRepeated(_, column, value)) => column
      }
    }

  private def isRepeated(key: Expression, column: Attribute, value: Expression): Boolean =
    Aggregates.isSame(key, value) && SQLConf.get.resolver(column.name, keyName(key))

  /** The columns that describe a change; `_change_time` carries the watermark of `time`. */
  private def changeColumns(time: Option[Attribute]): Seq[Attribute] = {
    val watermark = time.map(_.metadata).filter(_.contains(EventTimeWatermark.delayKey))
    val timeMetadata = watermark.fold(Metadata.empty) { metadata =>
      new MetadataBuilder()
        .putLong(EventTimeWatermark.delayKey, metadata.getLong(EventTimeWatermark.delayKey))
        .build()
    }
    Seq(
      AttributeReference(Keep.ChangeType, StringType, nullable = false)(),
      AttributeReference(Keep.ChangeTime, TimestampType, nullable = time.isEmpty, timeMetadata)(),
      AttributeReference(Keep.ChangeStep, LongType, nullable = false)(),
      AttributeReference(Keep.ChangeSeq, LongType, nullable = false)())
  }

  /** The columns with the number of a row in its group, and the order of its changes. */
  private def identityColumns(spec: KeepSpec): Seq[Attribute] =
    if (!spec.emitsRowIds) Nil
    else {
      Seq(Keep.ChangeRow, Keep.ChangeVersion).map { name =>
        AttributeReference(name, LongType, nullable = false)()
      }
    }

  /** All columns but the type are NULL in rows without effect. */
  private def nullable(column: Attribute): Attribute =
    if (column.name == Keep.ChangeType) column else column.withNullability(true)

  /** The column with the name of the window of a change, if there are several windows. */
  private def windowColumn(policy: Policy): Option[Attribute] =
    Option.when(policy.windowNames.nonEmpty) {
      AttributeReference(Keep.Window, StringType, nullable = false)()
    }

  /** The column with the reason of a change, if the call asks for the column. */
  private def reasonColumn(spec: KeepSpec): Option[Attribute] =
    Option.when(spec.emitsReasons || spec.emitsRefused) {
      AttributeReference(Keep.ChangeReason, StringType, nullable = false)()
    }

  /** The columns of a snapshot: time, step, group key, and the window contents as an array. */
  private def snapshotColumns(
      time: Option[Attribute],
      group: Seq[Expression],
      rows: Seq[Attribute]): Seq[Attribute] =
    changeColumns(time).slice(1, 3) ++ groupColumns(group) :+ arrayOf("content", rows)

  /** The columns of a window event: type, time, step, group key, and its rows as an array. */
  private def eventColumns(
      time: Option[Attribute],
      group: Seq[Expression],
      rows: Seq[Attribute]): Seq[Attribute] =
    (AttributeReference(Keep.EventType, StringType, nullable = false)() +:
      changeColumns(time).slice(1, 3)) ++ groupColumns(group) :+ arrayOf("rows", rows)

  /** The columns of an `agg` row before the results. */
  private def resultColumns(
      spec: KeepSpec,
      time: Option[Attribute],
      group: Seq[Expression]): Seq[Attribute] = {
    val change = changeColumns(time)
    val kind = if (spec.mode == AggMode.Changes) change.take(1) else Nil
    groupColumns(if (spec.acrossGroups) Nil else group) ++ kind :+ change(1) :+ change(3)
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

  private def groupColumns(group: Seq[Expression]): Seq[Attribute] = group.map { key =>
    AttributeReference(keyName(key), key.dataType, nullable = true)()
  }

  private def keyName(key: Expression): String = key match {
    case column: Attribute => column.name
    case other => UnqualifiedSql.of(other)
  }

  /** A column of arrays of rows. */
  private[analysis] def arrayOf(name: String, rows: Seq[Attribute]): Attribute = {
    val row = StructType(rows.map(c => StructField(c.name, c.dataType, c.nullable)))
    AttributeReference(name, ArrayType(row, containsNull = false), nullable = false)()
  }
}
