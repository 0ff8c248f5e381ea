package winops.spark.analysis

import java.util.concurrent.atomic.AtomicBoolean

import org.apache.spark.internal.Logging
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StringType

import winops.spark.expressions.{PolicyExpressions, UnqualifiedSql}
import winops.spark.internal.WinopsErrors
import winops.spark.over.Watermarks
import winops.spark.plan.{AggMode, Keep, KeepSpec, Output}
import winops.spark.row.KeyTypes
import winops.terms.StepOrder

/** Refuses calls of `keep` whose arguments do not fit each other or the table. */
private[spark] object CheckKeep extends Logging {
  private val warnedOfOneTask = new AtomicBoolean
  private val warnedOfGrowth = new AtomicBoolean
  private val NamesOfOperations = Seq("op", "_op", "__op", Keep.ChangeType)

  /** Returns the expressions, or refuses those that cannot be a group key. */
  def group(clause: String, group: Seq[Expression]): Seq[Expression] = {
    group.foreach { expression =>
      deterministic(clause, expression)
      if (!KeyTypes.accept(expression.dataType)) {
        throw WinopsErrors.analysis(
          "WINOPS_GROUP_TYPE",
          "expression" -> UnqualifiedSql.of(expression),
          "type" -> expression.dataType.sql)
      }
    }
    group
  }

  /** Refuses an expression whose value may differ when it is evaluated again. */
  def deterministic(clause: String, expression: Expression): Unit =
    if (!isDeterministic(expression)) {
      throw WinopsErrors.argument("VALUE", clause, "deterministic expressions")
    }

  /** Returns false for an expression whose value may differ when it is evaluated again. */
  def isDeterministic(expression: Expression): Boolean =
    expression.deterministic && !expression.containsPattern(TreePattern.CURRENT_LIKE)

  /** Refuses a policy that uses time if the rows have no clock. */
  def clock(
      spec: KeepSpec,
      expressions: PolicyExpressions,
      table: LogicalPlan,
      time: Option[Attribute]): Unit =
    time match {
      case Some(column)
          if table.isStreaming && (spec.rowsWait || spec.usesTime) &&
            !Watermarks.isOn(column) =>
        val isOfLookup = spec.lookup.isDefined
        throw WinopsErrors.analysis(
          "WINOPS_WATERMARK_REQUIRED",
          "column" -> (column.name + (if (isOfLookup) LookupArguments.OfWindows else "")),
          "expected" -> Watermarks.advice(
            table,
            column.name,
            "write time='%1$s', in SQL time => '%1$s'"))
      case None if !table.isStreaming && (spec.usesTime || expressions.askForTime) =>
        throw WinopsErrors.analysis("WINOPS_TIME_REQUIRED", "policy" -> spec.policy.text)
      case _ =>
    }

  /** Refuses an output or mode that the table or the policy cannot have. */
  def output(spec: KeepSpec, table: LogicalPlan): Unit = {
    SeveralWindows.checkOutput(spec)
    mode(spec)
    if (spec.emitsReasons && spec.output != Output.Changes) {
      throw WinopsErrors.argument("UNKNOWN", "reason", "it together with output => 'changes'")
    }
    spec.output match {
      case Output.Rows if table.isStreaming =>
        throw WinopsErrors.analysis("WINOPS_ROWS_ON_STREAM")
      case Output.Events if spec.policy.stream.order != StepOrder.Events =>
        throw WinopsErrors.analysis("WINOPS_NO_EVENTS", "dialect" -> spec.dialect)
      case _ =>
    }
  }

  /** Refuses modes that do not fit the reports of a window. Where a window reports by itself, the
    * values before a step need not be those of the previous report, so the deletes of `changes`
    * would not match earlier inserts. With `select rstream`, the values are those before a step,
    * so the last ones of a micro-batch are not current and `latest` is refused.
    */
  private def mode(spec: KeepSpec): Unit = {
    val reports = spec.reportsByTrigger || spec.reportsWhenEmptied
    if (spec.output == Output.Agg && spec.mode == AggMode.Changes && reports) {
      throw WinopsErrors.argument(
        "VALUE",
        "mode",
        "'all' or 'latest' with a window that has its own reports")
    }
    if (spec.emitsOldValues && spec.mode == AggMode.Latest) {
      throw WinopsErrors.argument("VALUE", "mode", "'all' or 'changes' with select rstream")
    }
  }

  /** Refuses rows of a window that have a column with the name of an added one. */
  def names(spec: KeepSpec, columns: Seq[Attribute], rows: Seq[Attribute]): Unit =
    conflict(columns, rows).foreach { row =>
      // Without such a column, a change feed's deletes would be upserts.
      val maySayOperations = spec.policy.isKeyed && spec.operation.isEmpty &&
        row.dataType.isInstanceOf[StringType] && isSame(row, Keep.ChangeType)
      throw conflicting(
        row,
        if (maySayOperations) {
          s"If it says what a row does, give op='${row.name}' in Python, op => '${row.name}' in " +
            "SQL. Otherwise rename it before keep, for example with withColumnRenamed"
        } else "Rename or drop it before keep, for example with withColumnRenamed")
    }

  /** Refuses rows that look up, or join, and have a column with the name of an added one.
    *
    * @param input
    *   the input with these rows and its verb, such as `The input has`
    * @param expected
    *   what to write instead
    */
  def names(
      columns: Seq[Attribute],
      rows: Seq[Attribute],
      input: String,
      expected: String): Unit =
    conflict(columns, rows).foreach(row => throw conflicting(row, expected, input))

  private def conflict(columns: Seq[Attribute], rows: Seq[Attribute]): Option[Attribute] =
    rows.find(row => columns.exists(isSame(_, row.name)))

  private def isSame(one: Attribute, name: String): Boolean =
    SQLConf.get.resolver(one.name, name)

  private def conflicting(
      row: Attribute,
      expected: String,
      input: String = "The input has"): AnalysisException =
    WinopsErrors.analysis(
      "WINOPS_COLUMN_CONFLICT",
      "input" -> input,
      "column" -> row.name,
      "expected" -> expected)

  /** Warns of a column that seems to say what rows do, in a call without operations. */
  def operations(spec: KeepSpec, rows: Seq[Attribute]): Unit =
    if (spec.policy.isKeyed && spec.operation.isEmpty && spec.output != Output.Describe) {
      rows
        .find(row => row.dataType.isInstanceOf[StringType] && isNameOfOperations(row.name))
        .foreach { row =>
          logWarning(
            s"keep with key and without op takes each row as an upsert, and the input has a " +
              s"string column ${row.name}. If it says what a row does, give op='${row.name}', in " +
              s"SQL op => '${row.name}'. Otherwise drop or rename it.")
        }
    }

  private def isNameOfOperations(name: String): Boolean =
    NamesOfOperations.exists(_.equalsIgnoreCase(name))

  /** Warns, once each, of a window in one task and of groups that are never removed. */
  def costs(spec: KeepSpec, table: LogicalPlan): Unit = {
    if (spec.runsInOneTask && warnedOfOneTask.compareAndSet(false, true)) {
      logWarning(costOfOneTask(spec))
    }
    // The windows of a join that looks ahead have no idle time, and their groups become empty.
    if (spec.group.nonEmpty && table.isStreaming && spec.idleMillis.isEmpty &&
      !spec.lookup.exists(_.looksAhead) && warnedOfGrowth.compareAndSet(false, true)) {
      logWarning(costOfGroups(spec))
    }
  }

  /** The warning of a window in one task. */
  def costOfOneTask(spec: KeepSpec): String =
    if (spec.isCrossGroup) {
      s"[${spec.policy.text}] has groups that depend on each other, so it runs in one task."
    } else if (isOfJoin(spec)) {
      "asof_join without by= compares all rows of both sides and runs in one task."
    } else {
      "keep without PER, PARTITION BY or per= has one window for all rows and runs in one task."
    }

  /** The warning of groups that are never removed. */
  def costOfGroups(spec: KeepSpec): String =
    if (isOfJoin(spec)) {
      "asof_join keeps the newest row of each key of the right side forever; idle= removes that " +
        "of a silent key."
    } else {
      s"[${spec.policy.text}] keeps every group forever; idle= removes groups without rows."
    }

  private def isOfJoin(spec: KeepSpec): Boolean = spec.lookup.exists(_.ofJoin)
}
