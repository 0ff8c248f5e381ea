package winops.spark.expressions

import scala.util.control.NoStackTrace

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.analysis.{Analyzer, EmptyTableFunctionRegistry, MultiAlias, Star, UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.catalog.{CatalogDatabase, InMemoryCatalog, SessionCatalog}
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, LambdaFunction, Literal, PlanExpression, SortOrder, StringRegexExpression, Unevaluable, UnresolvedNamedLambdaVariable, UnresolvedWindowExpression, WindowExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.optimizer.{ReplaceExpressions, SpecialDatetimeValues}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DateType, TimestampNTZType, TimestampType}

import winops.policy.Category
import winops.terms.RowExpression
import winops.text.dialect.{Names, Problem}

/** Resolves a policy's expressions as expressions of Spark SQL over the columns of a row.
  *
  * The author of a policy may not be the submitter of the job, and a policy must mean the same on
  * every retry and after every restart. Expressions are therefore resolved independently of the
  * session, over the given columns and [[PolicyFunctions]] only: no table, variable or user
  * function is accessible. They depend on the session's configuration only, such as its time zone
  * and ANSI mode. Under ANSI mode an overflow or a division by zero fails the running query.
  *
  * Column names are case-sensitive, as in the dialects.
  */
object RowExpressions {
  import ExpressionBudget.{MaxParts, PartsOfEach}

  /** Resolves an expression over `columns`, or returns the problem. The result can be evaluated
    * except for its AggregateExpressions, which the caller handles.
    *
    * @param budget
    *   the budget of the policy, which the expression is charged to
    */
  def resolve(
      expression: RowExpression,
      columns: Seq[Attribute],
      budget: ExpressionBudget): Either[Problem, Expression] =
    expression match {
      case RowExpression.Column(name) =>
        columns.filter(_.name == name) match {
          case Seq(column) => Right(column)
          case Nil =>
            val problem = unknown(Names.shown(name), columns, expression.offset)
            Left(problem.copy(unknownColumn = Some(name)))
          case _ =>
            val several = s"expected one column; several have the name ${Names.shown(name)}"
            Left(Problem(Category.UnknownColumn, expression.offset, several))
        }
      case RowExpression.Computed(sql) =>
        new Computed(sql, expression.offset, columns, budget).resolved
    }

  private def unknown(name: String, columns: Seq[Attribute], offset: Int): Problem = {
    val some = columns.take(ShownColumns).map(column => Names.shown(column.name)).mkString(", ")
    val more = if (columns.length > ShownColumns) ", ..." else ""
    Problem(
      Category.UnknownColumn,
      offset,
      s"expected a column; there is no $name: the columns are $some$more")
  }

  private val ShownColumns = 8
  private val ShownChars = 300

  /** The maximum nesting depth. Spark compiles and serializes expressions by recursion. */
  private val MaxDepth = 200

  /** The maximum number of digits of Spark's decimals. */
  private val MaxDigits = 38

  private val size = new ExpressionSize(MaxParts)

  /** The functions for the analyzer. Their replacements are limited in size, because the analyzer
    * visits every part of them.
    */
  private val functions =
    PolicyFunctions.registry(built => if (size.written(built) > MaxParts) throw TooLarge)

  private val analyzer = new Analyzer(
    new SessionCatalog(new InMemoryCatalog, functions, EmptyTableFunctionRegistry) {
      override def createDatabase(database: CatalogDatabase, ignoreIfExists: Boolean): Unit = ()
    })

  /** Words in date and timestamp literals that Spark reads relative to the current time. */
  private val movingTime = "(?i)now|today|tomorrow|yesterday".r

  /** Extracts the text of a Spark message without condition, SQLSTATE and position. The position
    * does not refer to the policy.
    */
  private val saidBySpark = raw"(?s)\s*\[[A-Z0-9_.]+\]\s*(.*?)\s*(?:SQLSTATE:.*|\n.*)?".r

  private final class Computed(
      sql: String,
      offset: Int,
      columns: Seq[Attribute],
      budget: ExpressionBudget) {
    private val relation = LocalRelation(columns)

    def resolved: Either[Problem, Expression] =
      try {
        withExactNames {
          for {
            written <- parsed
            _ <- checked(size.written(written))(refusalOfSize)
            _ <- checked(written)(refusalOfText)
            analyzed <- analyzed(written)
            parts = size.evaluated(analyzed)
            _ <- checked(parts)(refusalOfSize)
            _ = budget.spend(parts)
            _ <- checked(analyzed)(refusalOfMeaning)
            replaced = evaluable(analyzed)
            _ <- checked(replaced)(refusalOfMeaning)
            _ <- checked(replaced)(refusalToEvaluate)
          } yield replaced
        }
      } catch {
        case _: StackOverflowError => Left(tooDeep)
        case TooLarge => Left(tooLarge)
        case error: Throwable with SparkThrowable => Left(problemOf(error))
      }

    private def parsed: Either[Problem, Expression] =
      CatalystSqlParser.parseExpression(sql) match {
        case _: Alias | _: MultiAlias | _: Star =>
          problem(Category.Syntax, "expected one value without a name of its own")
        case expression => Right(expression)
      }

    private def analyzed(written: Expression): Either[Problem, Expression] = {
      val plan = analyzer.execute(projected(written, relation))
      // Throws the error for the part that could not be resolved.
      if (!plan.resolved) analyzer.checkAnalysis(plan)
      plan match {
        case Project(Seq(Alias(expression, _)), _: LocalRelation) => spark(expression)
        case Aggregate(Nil, Seq(Alias(expression, _)), _: LocalRelation, _) => spark(expression)
        case _ => problem(Category.Unsupported, "expected an expression of one row or window")
      }
    }

    /** Runs Spark's checks on each aggregate, and on the expression with aggregates replaced by
      * columns. A query cannot have aggregates and columns of a row side by side.
      */
    private def spark(expression: Expression): Either[Problem, Expression] = {
      val aggregates = expression.collect { case aggregate: AggregateExpression => aggregate }
      val columnsOfAggregates = aggregates.map(_.resultAttribute)
      val outside = expression.transform { case aggregate: AggregateExpression =>
        aggregate.resultAttribute
      }
      analyzer.checkAnalysis(Aggregate(Nil, aggregates.map(Alias(_, ValueName)()), relation))
      analyzer.checkAnalysis(projected(outside, LocalRelation(columns ++ columnsOfAggregates)))
      Right(expression)
    }

    /** Inlines common expressions and replaceable functions. */
    private def evaluable(expression: Expression): Expression =
      planned(expression)(ReplaceExpressions(_)).transformUp(CommonExpressions.inPlace)

    private def refusalOfSize(parts: Int): Option[Problem] =
      Option.when(!budget.affords(parts))(tooLarge)

    private def refusalOfText(expression: Expression): Option[Problem] =
      if (depth(expression) > MaxDepth) Some(tooDeep)
      else {
        expression.collectFirst {
          case _: PlanExpression[_] => unsupported("no subquery")
          case _: WindowExpression | _: UnresolvedWindowExpression => unsupported("no OVER")
          case call: UnresolvedFunction if !isKnown(call.nameParts) =>
            val name = Names.shown(call.nameParts.mkString("."))
            unsupported(s"a function of Spark's that makes a value of values; $name is none")
          case call: UnresolvedFunction if hasTooManyArguments(call) =>
            unsupported(s"fewer arguments of ${call.nameParts.head}; the last is not supported")
          case call: UnresolvedFunction if roundsFarAway(call) =>
            Problem(Category.Range, offset, s"expected at most $MaxDigits digits to round to")
          case call: UnresolvedFunction if isConstant(call) && needsRow(call) =>
            unsupported(s"no ${call.nameParts.head} of constants alone, but its value")
          case pattern: StringRegexExpression if isConstant(pattern) =>
            unsupported("no comparison of constants with a pattern")
          case literal: Literal if isMovingTime(literal) => unsupported(Deterministic)
        }
      }

    private def refusalOfMeaning(expression: Expression): Option[Problem] =
      if (!expression.deterministic ||
        expression.containsPattern(TreePattern.CURRENT_LIKE) ||
        planned(expression)(SpecialDatetimeValues(_)) != expression) {
        Some(unsupported(Deterministic))
      } else None

    private def refusalToEvaluate(expression: Expression): Option[Problem] =
      expression.collectFirst {
        case function: LambdaFunction if AggregateExpression.containsAggregate(function) =>
          unsupported("no aggregate in a lambda function")
        case other: Unevaluable if !isEvaluable(other) =>
          unsupported(s"an expression of one row or window; ${other.prettyName} is none")
      }

    /** Returns true for expressions that are evaluated without `eval`: columns are bound to rows,
      * and aggregates evaluate their own sort orders.
      */
    private def isEvaluable(expression: Unevaluable): Boolean = expression match {
      case _: Attribute | _: AggregateExpression | _: SortOrder => true
      case _ => false
    }

    private def isKnown(name: Seq[String]): Boolean =
      name.length == 1 && PolicyFunctions.has(name.head)

    private def needsRow(call: UnresolvedFunction): Boolean =
      PolicyFunctions.needsRow(call.nameParts.head)

    private def hasTooManyArguments(call: UnresolvedFunction): Boolean =
      PolicyFunctions.mostArguments(call.nameParts.head).exists(call.arguments.lengthIs > _)

    private def roundsFarAway(call: UnresolvedFunction): Boolean =
      PolicyFunctions.rounds(call.nameParts.head) && call.arguments.drop(1).exists {
        case Literal(digits: Int, _) => math.abs(digits.toLong) > MaxDigits
        case _ => true
      }

    private def isConstant(expression: Expression): Boolean = !expression.exists {
      case _: UnresolvedAttribute | _: UnresolvedNamedLambdaVariable => true
      case _ => false
    }

    private def isMovingTime(literal: Literal): Boolean = literal.dataType match {
      case DateType | TimestampType | TimestampNTZType =>
        // Spark's indexes count code points.
        val text = for {
          start <- literal.origin.startIndex
          stop <- literal.origin.stopIndex
        } yield sql.substring(
          sql.offsetByCodePoints(0, start),
          sql.offsetByCodePoints(0, stop + 1))
        text.exists(movingTime.findFirstIn(_).isDefined)
      case _ => false
    }

    private def depth(expression: Expression): Int =
      1 + expression.children.map(depth).maxOption.getOrElse(0)

    private def projected(expression: Expression, input: LogicalPlan): LogicalPlan =
      Project(Seq(Alias(expression, ValueName)()), input)

    /** Applies a rule for plans to the expression. */
    private def planned(expression: Expression)(rule: LogicalPlan => LogicalPlan): Expression =
      rule(projected(expression, relation)).expressions.head.children.head

    private def withExactNames[A](body: => A): A = {
      val exact = SQLConf.get.clone()
      exact.setConf(SQLConf.CASE_SENSITIVE, true)
      SQLConf.withExistingConf(exact)(body)
    }

    private def checked[A](found: A)(refusal: A => Option[Problem]): Either[Problem, Unit] =
      refusal(found).toLeft(())

    private def problemOf(error: Throwable with SparkThrowable): Problem =
      if (conditionOf(error).startsWith("UNRESOLVED_COLUMN")) {
        unknown(error.getMessageParameters.get("objectName").take(ShownChars), columns, offset)
      } else {
        val said = error.getMessage match {
          case saidBySpark(text) => text
          case text => text
        }
        Problem(
          categoryOf(error),
          offset,
          s"expected an expression of Spark SQL; Spark says: ${said.take(ShownChars)}")
      }

    private def categoryOf(error: SparkThrowable): Category =
      (conditionOf(error).takeWhile(_ != '_'), error.getSqlState) match {
        case ("AMBIGUOUS", _) | (_, "42703" | "42704") => Category.UnknownColumn
        case ("UNSUPPORTED", _) | (_, "42883") => Category.Unsupported
        case (_, "42P02") => Category.UnboundParameter
        case (_, "42601" | "42617") => Category.Syntax
        case (_, "54001") => Category.Limit
        case _ => Category.Type
      }

    private def conditionOf(error: SparkThrowable): String =
      Option(error.getCondition).getOrElse("")

    private def tooDeep: Problem =
      Problem(Category.Limit, offset, s"expected an expression that nests at most $MaxDepth deep")

    private def tooLarge: Problem =
      Problem(
        Category.Limit,
        offset,
        s"expected expressions of at most $MaxParts parts in all, " +
          s"where each counts $PartsOfEach more than it has")

    private def unsupported(expected: String): Problem =
      Problem(Category.Unsupported, offset, s"expected $expected")

    private def problem(category: Category, message: String): Either[Problem, Nothing] =
      Left(Problem(category, offset, message))
  }

  private case object TooLarge extends RuntimeException with NoStackTrace

  private val ValueName = "value"
  private val Deterministic = "a deterministic expression"
}
