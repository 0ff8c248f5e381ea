package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.types.StringType

import winops.spark.internal.WinopsErrors
import winops.spark.plan.{KeepSpec, Output}
import winops.spark.row.SortKeys
import winops.terms.RowExpression

/** The arguments of a call for rows with a primary key, and for rows without effect. */
private[spark] object KeyArguments {
  private val DeleteInsert = "delete_insert"
  private val Update = "update"
  private val Drop = "drop"
  private val Emit = "emit"

  /** The columns of the primary key, with their names in the table; empty if there is none. */
  def keyOf(arguments: Arguments, columns: Seq[Attribute]): Seq[RowExpression] = {
    val key = arguments.names("key").map { name =>
      val column = NamedColumns.of("key", name, columns)
      if (!SortKeys.accept(column.dataType)) {
        throw WinopsErrors.analysis(
          "WINOPS_KEY_TYPE",
          "column" -> column.name,
          "type" -> column.dataType.sql)
      }
      column.name
    }
    key.diff(key.distinct).headOption.foreach { twice =>
      throw WinopsErrors.argument("DUPLICATE", twice, "each column of key once")
    }
    key.map(RowExpression.Column(_)(0))
  }

  /** The number of rows behind the window; 0 if evicted rows do not return. */
  def bufferOf(arguments: Arguments): Long = arguments.positiveLong("buffer").getOrElse(0L)

  /** The column that says what a row does. */
  def operationOf(arguments: Arguments, columns: Seq[Attribute]): Option[Attribute] =
    arguments.text("op").map { name =>
      val column = NamedColumns.of("op", name, columns)
      if (!column.dataType.isInstanceOf[StringType]) {
        throw WinopsErrors.argument(
          "VALUE",
          "op",
          s"the name of a string column; ${column.name} is ${column.dataType.sql}")
      }
      column
    }

  /** Refuses a column of operations that also identifies the rows on which they act. */
  def checkOperation(
      operation: Option[Attribute],
      group: Seq[Expression],
      key: Seq[RowExpression]): Unit = operation.foreach { column =>
    val isInKey = key.contains(RowExpression.Column(column.name)(0))
    if (isInKey || group.exists(_.references.contains(column))) {
      throw WinopsErrors.argument(
        "VALUE",
        "op",
        s"a column that is in neither the group nor key: ${column.name} differs among the " +
          "operations on one row, so none of them would find it")
    }
  }

  /** Returns true if each change is to have the number of its row. */
  def emitsRowIds(arguments: Arguments, isKeyed: Boolean): Boolean =
    arguments.flag("row_id").getOrElse(isKeyed)

  /** Returns true if rows without effect are to be emitted. */
  def emitsRefused(arguments: Arguments): Boolean =
    arguments.oneOf("late", Seq(Drop, Emit))(identity).contains(Emit)

  /** The specification with the values of these arguments, which are checked. */
  def in(spec: KeepSpec, arguments: Arguments, operation: Option[Attribute]): KeepSpec = {
    val updates = arguments.oneOf("updates", Seq(DeleteInsert, Update))(identity)
    val corrections = arguments.flag("corrections")
    val isKeyed = spec.policy.isKeyed
    if (!isKeyed) {
      Seq(
        "op" -> operation.isDefined,
        "updates" -> updates.isDefined,
        "corrections" -> corrections.isDefined,
        "buffer" -> (bufferOf(arguments) > 0L)).filter(_._2).foreach { case (name, _) =>
        throw WinopsErrors.argument("UNKNOWN", name, "it together with key => ARRAY('id')")
      }
    }
    val emitsChanges = spec.output == Output.Changes
    val found = spec.copy(
      operation = operation.map(_.name),
      emitsUpdates = updates.contains(Update),
      emitsRowIds = emitsRowIds(arguments, isKeyed) && emitsChanges,
      emitsRefused = emitsRefused(arguments),
      emitsCorrections = corrections.contains(true))
    check(found, arguments.flag("row_id").isDefined)
    found
  }

  private def check(spec: KeepSpec, namesRowIds: Boolean): Unit = {
    val policy = spec.policy
    if (policy.isKeyed) {
      unkeyed(spec).foreach { reason =>
        throw WinopsErrors.analysis(
          "WINOPS_KEY_WINDOW",
          "policy" -> policy.text,
          "reason" -> reason)
      }
      if (spec.operation.isDefined && spec.output == Output.Snapshots) {
        throw WinopsErrors.argument(
          "UNKNOWN",
          "op",
          "it with the output changes, rows, agg or withColumns: snapshots take no rows with " +
            "operations")
      }
    }
    if (spec.emitsRowIds) checkRowIds(spec, namesRowIds)
    val emitsOthers = spec.output match {
      case Output.Changes | Output.Lookup | Output.Describe => false
      case _ => true
    }
    if (spec.emitsRefused && (emitsOthers || spec.isCrossGroup)) {
      val reason =
        if (spec.isCrossGroup) "The groups of this window depend on each other."
        else s"The output ${spec.output.name} has no column that tells them from other rows."
      throw WinopsErrors.analysis("WINOPS_LATE_OUTPUT", "reason" -> reason)
    }
  }

  /** Refuses numbers of rows that would begin at 0 again.
    *
    * @param namesRowIds
    *   true if the call asks for the numbers, which a key has by default
    */
  private def checkRowIds(spec: KeepSpec, namesRowIds: Boolean): Unit =
    if (spec.idleMillis.isDefined) {
      val why = "a group that idle has removed numbers its rows from 0 again"
      throw (
        if (namesRowIds) {
          WinopsErrors.argument(
            "VALUE",
            "row_id",
            s"false together with idle, or omit idle: $why")
        } else {
          WinopsErrors.argument(
            "UNKNOWN",
            "idle",
            "it together with key and row_id => false (row_id=False in Python), or omit idle. " +
              s"With key, changes have the number of their row, and $why")
        }
      )
    } else if (spec.policy.group.reclaim.isDefined || spec.isCrossGroup) {
      throw WinopsErrors.argument(
        "VALUE",
        "row_id",
        "false with a window whose groups are removed or depend on each other: a group that " +
          "comes back numbers its rows from 0 again")
    }

  /** The reason why rows of the policy have no primary key, beside that of the machine. */
  private def unkeyed(spec: KeepSpec): Option[String] =
    if (spec.policy.filter.isDefined) {
      Some("its filter may drop an update; filter the rows before keep")
    } else if (spec.policy.group.reclaim.isDefined || spec.isCrossGroup) {
      Some("its groups are removed, or depend on each other")
    } else if (spec.punctuation.isDefined) Some("it has punctuation")
    else None
}
