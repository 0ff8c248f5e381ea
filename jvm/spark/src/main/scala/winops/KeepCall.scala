package winops

import org.apache.spark.internal.Logging
import org.apache.spark.sql.{Column, DataFrame, Dataset}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{ArrayType, StringType}
import org.apache.spark.sql.winops.internal.Datasets

import winops.spark.{KeepFunction, SparkVersion, WarningsFunction}
import winops.spark.internal.WinopsErrors
import winops.spark.plan.Output

/** A call of the table function `keep`, whose arguments are built as expressions.
  *
  * The names and values of arguments are checked where those of SQL are: in the function itself.
  *
  * @param df
  *   the rows
  * @param requested
  *   the policy; `None` if the options describe the window
  */
private[winops] final class KeepCall(
    df: Dataset[_],
    requested: Option[WindowPolicy],
    options: KeepOptions)
    extends Logging {
  import KeepCall._

  Option(SparkVersion.mismatch()).foreach(throw _)

  val rows: DataFrame = df.toDF()

  if (Seq("op", "keyColumns").forall(options.values.contains) && !options.values.contains(
      "key")) {
    throw WinopsErrors.argument(
      "UNKNOWN",
      "op",
      "it together with key: keyColumns only names columns for a warning, key names those by " +
        "which operations find a row")
  }

  private val keywords = new Keywords(requested, options.values)
  private val policy = keywords.policy
  private val per = keys("per").map {
    case Alias(expression, _) => expression
    case _: SortOrder =>
      throw WinopsErrors.argument("VALUE", "per", "columns without a sort order")
    case expression => expression
  }
  private val orderBy = keys("orderBy").map {
    case order: SortOrder => order
    case Alias(expression, _) => SortOrder(expression, Ascending)
    case expression => SortOrder(expression, Ascending)
  }

  /** The rows of one output.
    *
    * @param aggregates
    *   a query over `rows` with the aggregates to compute, which is never run
    * @param more
    *   further arguments by their names in SQL
    * @param other
    *   the rows that look the windows up
    */
  def over(
      output: Output,
      aggregates: Option[DataFrame] = None,
      more: Seq[(String, Any)] = Nil,
      other: Option[Dataset[_]] = None): DataFrame = {
    val table = FunctionTableSubqueryArgumentExpression(
      Datasets.planOf(df),
      partitionByExpressions = per,
      orderByExpressions = orderBy)
    val named = ofPolicy ++
      Renamed.collect {
        case (name, inSql) if options.values.contains(name) => inSql -> options.values(name)
      } ++
      Option.when(keywords.params.nonEmpty)("params" -> keywords.params) ++
      more :+ ("output" -> output.name)
    def tables(name: String, passed: Option[Dataset[_]]) = passed.map { rows =>
      NamedArgumentExpression(
        name,
        FunctionTableSubqueryArgumentExpression(Datasets.planOf(rows)))
    }
    Datasets.ofFunction(
      df.sparkSession,
      KeepFunction.Name,
      (table +: named.map { case (name, value) =>
        NamedArgumentExpression(name, literal(name, value))
      }) ++ tables("aggregates", aggregates) ++ tables("lookup", other))
  }

  /** Logs a warning if the group key contains the primary key that is given as an option. */
  def warn(): Unit = options.values.get("keyColumns").foreach { key =>
    val group = per.collect { case column: NamedExpression => column.name }
    val lists = Seq(df.columns.toSeq, group, key.asInstanceOf[Seq[String]])
      .map(Literal.create(_, ArrayType(StringType)))
    for ((_, text) <- policy.windows) {
      val call = Seq(Literal(text), literal("params", keywords.params)) ++ lists
      WarningsFunction(call).eval() match {
        case array: ArrayData =>
          array.toSeq[Any](StringType).foreach(warning => logWarning(warning.toString))
        case _ =>
      }
    }
  }

  private def ofPolicy: Seq[(String, Any)] =
    if (policy.isOne) Seq(policy.dialect -> policy.windows.head._2)
    else Seq("windows" -> policy.windows, "dialect" -> policy.dialect)

  private def keys(name: String): Seq[Expression] =
    columns(name).map(Datasets.expressionOf(df.sparkSession, _))

  private def columns(name: String): Seq[Column] =
    options.values.get(name).toSeq.flatMap(_.asInstanceOf[Columns].all)

  override def toString: String = {
    val named = options.values.toSeq.filterNot { case (name, _) => Keywords.Names(name) }
    (policy.toString +: named.sortBy(_._1).map { case (name, value) => s"$name = ($value)" })
      .mkString(", ")
  }
}

private object KeepCall {

  /** The options that are arguments in SQL too, with their names there. */
  val Renamed: Seq[(String, String)] = Seq(
    "time" -> "time",
    "apply" -> "apply",
    "origin" -> "origin",
    "idle" -> "idle",
    "maxRows" -> "max_rows",
    "onNullTime" -> "on_null_time",
    "punct" -> "punct",
    "atEnd" -> "at_end",
    "onChange" -> "on_change",
    "key" -> "key",
    "op" -> "op",
    "updates" -> "updates",
    "rowId" -> "row_id",
    "late" -> "late",
    "corrections" -> "corrections",
    "buffer" -> "buffer",
    "fill" -> "fill")

  def literal(argument: String, value: Any): Expression = value match {
    case interval: Interval => Literal(interval.text)
    case origin: Origin => Literal(origin.value)
    case duration: java.time.Duration => literal(argument, Interval.ofDuration(duration))
    case duration: scala.concurrent.duration.FiniteDuration =>
      literal(argument, Interval.ofFiniteDuration(duration))
    case _: Boolean | _: Byte | _: Short | _: Int | _: Long | _: Float | _: Double | _: String |
        _: BigDecimal | _: java.math.BigDecimal =>
      Literal(value)
    case names: Iterable[_] if argument == "key" =>
      Literal.create(names.map(_.toString).toSeq, ArrayType(StringType))
    case fields: Iterable[_] =>
      CreateNamedStruct(fields.toSeq.flatMap {
        case (name: String, field) => Seq(Literal(name), literal(argument, field))
        case _ => throw wrong(argument)
      })
    case _ => throw wrong(argument)
  }

  private def wrong(argument: String) =
    WinopsErrors.argument("VALUE", argument, "strings, numbers and durations")
}
