package winops.spark.harness

import scala.util.control.NonFatal

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression, WindowExpression, WindowSpecDefinition}
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan, OneRowRelation, Project, Window, WithWindowDefinition}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.sql.winops.harness.BuiltinAnalyzer

import winops.spark.expressions.CommonExpressions
import winops.spark.internal.WinopsErrors
import winops.spark.over.ResolveOver
import winops.spark.plan.Over

/** Window functions of a request: a select list of SQL, and maybe a clause WINDOW behind it.
  *
  * Spark's parser reads the text, and Spark's analyzer resolves it with the rule of a session, so
  * that a text is accepted if a stream accepts it.
  */
private[harness] final class OverText(text: String) {
  import OverText._

  private val parsed: LogicalPlan = {
    val plan =
      try CatalystSqlParser.parsePlan(s"SELECT ${WindowPlan.RowNumber},\n$text")
      catch { case error: AnalysisException => throw located(error) }
    val list = plan match {
      case definitions: WithWindowDefinition => definitions.child
      case other => other
    }
    list match {
      case Project(_, OneRowRelation()) => plan
      case _ => throw invalid(1, 1, "the text is more than a list of window functions", Expected)
    }
  }

  /** Columns that the functions can be over: those that they name, with types that follow from
    * their use, after a number for the row.
    */
  def columns: StructType = {
    val expressions = parsed.flatMap(_.expressions) ++ (parsed match {
      case definitions: WithWindowDefinition => definitions.windowDefinitions.values
      case _ => Nil
    })
    val windows = expressions.flatMap(_.collect {
      case window: WindowSpecDefinition => window
      case WindowExpression(_, window) => window
    })
    val times = windows.flatMap(_.orderSpec.headOption).flatMap(namesIn)
    val keys = windows.flatMap(_.partitionSpec).flatMap(namesIn)
    val named = expressions.flatMap(namesIn).filterNot(is(_, WindowPlan.RowNumber))
    val distinct = ("seq" +: named).foldLeft(Seq.empty[String]) { (known, name) =>
      if (known.exists(is(_, name))) known else known :+ name
    }
    StructType(distinct.map { name =>
      val kind = Explanation.Samples
        .collectFirst { case sample if is(sample.name, name) => sample.dataType }
        .getOrElse {
          if (times.exists(is(_, name))) TimestampType
          else if (keys.exists(is(_, name))) StringType
          else DoubleType
        }
      StructField(name, kind)
    })
  }

  /** Resolves the functions over a stream with these columns, in which each timestamp has a
    * watermark.
    */
  def resolve(schema: StructType): OverWindow = {
    val columns = schema.map { field =>
      val column = AttributeReference(field.name, field.dataType)()
      if (field.dataType == TimestampType) WindowPlan.watermarked(column) else column
    }
    val number = AttributeReference(WindowPlan.RowNumber, LongType, nullable = false)()
    val relation = LocalRelation(columns :+ number, Nil, isStreaming = true)
    val plan = analyzed(parsed.transform { case OneRowRelation() => relation })
    for {
      window <- plan.collectFirst { case window: Window => window }
      refusal <- ResolveOver.refusal(window, plan)
    } throw refusal.error
    plan.collect { case over: Over => over } match {
      case Seq(over) =>
        val above = ReplaceExpressions(plan.transform { case operator: Over =>
          LocalRelation(operator.output)
        }).transformAllExpressions(CommonExpressions.inPlace)
        new OverWindow(over, above, schema)
      case Seq() => throw invalid(1, 1, "no function has OVER", Expected)
      case _ =>
        throw invalid(
          1,
          1,
          "the functions have several PARTITION BY or ORDER BY, which are several operators",
          "the functions of one PARTITION BY and ORDER BY")
    }
  }

  private def analyzed(plan: LogicalPlan): LogicalPlan =
    try analyzer.analyzed(plan)
    catch {
      case error: AnalysisException if isOfWinops(error) => throw error
      case error: AnalysisException => throw located(error)
      case NonFatal(error) =>
        throw invalid(1, 1, words(String.valueOf(error.getMessage)), Expected)
    }

  /** An error of Spark with its place in the text. */
  private def located(error: AnalysisException): AnalysisException = {
    val plain = words(error.message).replace(s", `${WindowPlan.RowNumber}`", "")
    // The first line of the query is not the user's.
    val line = Math.max(1, error.line.getOrElse(2) - 1)
    invalid(line, error.startPosition.getOrElse(0) + 1, plain.stripSuffix("."), Expected)
  }

  private def invalid(
      line: Int,
      column: Int,
      reason: String,
      expected: String): AnalysisException = {
    val marked = text.linesIterator.drop(line - 1).nextOption().getOrElse("")
    WinopsErrors.analysis(
      "WINOPS_OVER_TEXT",
      "line" -> line.toString,
      "column" -> column.toString,
      "reason" -> reason,
      "caret" -> s"$marked\n${" " * (column - 1)}^",
      "expected" -> expected)
  }
}

private[harness] object OverText {
  private val Expected = "window functions of SQL, separated by commas"

  private lazy val analyzer = new BuiltinAnalyzer(ResolveOver)

  /** A message without its condition and the text of the query. */
  private def words(message: String): String = message
    .replaceFirst("^\\s*\\[[A-Z0-9_.]+\\]\\s*", "")
    .replaceFirst("(?s)\\s*SQLSTATE:.*$", "")

  private def isOfWinops(error: AnalysisException): Boolean =
    Option(error.getCondition).exists(_.startsWith("WINOPS_"))

  private def is(name: String, other: String): Boolean = SQLConf.get.resolver(name, other)

  private def namesIn(expression: Expression) =
    expression.collect {
      case UnresolvedAttribute(Seq(name)) => name
      case column: Attribute if column.resolved => column.name
    }
}
