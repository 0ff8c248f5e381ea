package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.ExpressionSet
import org.apache.spark.sql.internal.SQLConf

import winops.policy.{Group, Policy, Retention, Sharing}
import winops.spark.expressions.{OfWindow, PolicyExpressions, UnqualifiedSql}
import winops.spark.internal.WinopsErrors
import winops.spark.plan.{KeepSpec, Output}
import winops.text.dialect.Names

/** Combines several windows over the same rows into one policy, so that one operator runs them.
  */
private[spark] object SeveralWindows {

  /** Combines at least one window, each with its name, into one policy. */
  def of(windows: Seq[(String, ResolvedPolicy)]): ResolvedPolicy = {
    val (firstName, first) = windows.head
    windows.foreach { case (name, window) =>
      Sharing.expected(window.policy).foreach(expected => throw refused(name, expected))
      if (window.policy.stream != first.policy.stream) {
        throw refused(name, s"the same kinds of changes as of the window $firstName")
      }
    }
    val grouped = windows.map(_._2).filter(_.policy.group.keys.nonEmpty)
    val grouping = grouped.headOption.getOrElse(first)
    grouped.foreach(checkGroup(grouping, _))
    val policy = Policy(
      Group(grouping.policy.group.keys),
      Retention.Independent(windows.map { case (name, window) =>
        name -> window.policy.retention
      }),
      first.policy.stream,
      listed(windows)(_.text),
      listed(windows)(_.window))
    val ofRows =
      windows.flatMap(_._2.expressions.ofRows).distinctBy(use => (use.role, use.source))
    ResolvedPolicy(policy, PolicyExpressions(grouping.expressions.group, None, ofRows))
  }

  /** Assigns each result of a call to the window that it is computed over.
    *
    * @param windowsOf
    *   pairs of a result column and the name of its window
    */
  def divided(
      results: WindowResults,
      spec: KeepSpec,
      windowsOf: Option[Seq[(String, String)]]): WindowResults = {
    val windows = spec.policy.windowNames
    val isRequired = windows.nonEmpty &&
      (spec.output == Output.WithColumns || spec.output == Output.Lookup)
    windowsOf match {
      case None if isRequired =>
        throw WinopsErrors.argument("MISSING", Argument, "named_struct('column', 'window', ...)")
      case Some(_) if !isRequired =>
        throw WinopsErrors.argument(
          "UNKNOWN",
          Argument,
          "it together with windows and output => 'withColumns' or 'lookup'")
      case None => results
      case Some(names) =>
        val isSame = SQLConf.get.resolver
        names.foreach { case (column, window) =>
          if (!results.columns.exists(result => isSame(result.name, column))) {
            throw WinopsErrors.argument(
              "VALUE",
              Argument,
              results.columns.map(_.name).mkString("the names of the aggregates: ", ", ", ""))
          }
          if (!windows.contains(window)) {
            throw WinopsErrors.argument(
              "VALUE",
              Argument,
              windows.mkString("the names of the windows: ", ", ", ""))
          }
        }
        val values = results.columns.zip(results.values).map { case (column, value) =>
          val window = names.collectFirst { case (name, of) if isSame(name, column.name) => of }
          OfWindow(
            windows.indexOf(window.getOrElse {
              throw WinopsErrors.argument(
                "MISSING",
                s"the window of the column ${column.name}",
                s"it in $Argument => named_struct('column', 'window', ...)")
            }),
            value)
        }
        results.copy(values = values)
    }
  }

  /** Refuses outputs other than `changes`, `withColumns` and `lookup` for several windows.
    * Descriptions are always allowed.
    */
  def checkOutput(spec: KeepSpec): Unit = spec.output match {
    case Output.Changes | Output.WithColumns | Output.Lookup | Output.Describe =>
    case _ if spec.policy.windowNames.nonEmpty =>
      throw WinopsErrors.argument(
        "VALUE",
        "output",
        "'changes', 'withColumns', 'lookup' or 'describe' with several windows")
    case _ =>
  }

  private val Argument = "of_windows"

  private def checkGroup(one: ResolvedPolicy, other: ResolvedPolicy): Unit =
    if (ExpressionSet(one.expressions.group) != ExpressionSet(other.expressions.group)) {
      throw WinopsErrors.analysis(
        "WINOPS_GROUP_CONFLICT",
        "policy" -> one.expressions.group.map(UnqualifiedSql.of).mkString(", "),
        "given" -> other.expressions.group.map(UnqualifiedSql.of).mkString(", "))
    }

  private def listed(windows: Seq[(String, ResolvedPolicy)])(text: Policy => String): String =
    windows
      .map { case (name, window) => s"${Names.quoted(name)}: ${text(window.policy)}" }
      .mkString(", ")

  private def refused(window: String, expected: String) =
    WinopsErrors.analysis("WINOPS_SEVERAL_WINDOWS", "window" -> window, "expected" -> expected)
}
