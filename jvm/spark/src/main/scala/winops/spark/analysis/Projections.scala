package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet, Cast, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.types.{DoubleType, NumericType}

import winops.policy.{Beside, Category, Named, Projection, Statistic}
import winops.spark.expressions.{ExpressionBudget, OfLastArrival, PolicyExpressions, RowExpressions}
import winops.spark.row.KeyTypes
import winops.terms.RowExpression
import winops.text.dialect.{Names, Problem}

/** Resolves a policy's projection to Spark SQL expressions over the columns of a row. */
object Projections {
  import PolicyExpressions.all

  /** The aggregates of the projection, or the error of the first expression that does not fit the
    * columns or its place.
    *
    * @param budget
    *   limit on the cost of the expressions, shared with others of the policy
    */
  def resolve(
      projection: Projection,
      columns: Seq[Attribute],
      budget: ExpressionBudget = new ExpressionBudget): Either[Problem, Aggregates] = {
    val rows = new Rows(columns, budget)
    projection match {
      case Projection.Columns(named, by, _) => selected(named, by, rows)
      case Projection.Derived(statistic, of, beside, _) => derived(statistic, of, beside, rows)
    }
  }

  /** Resolves expressions over the columns of a row. */
  private final class Rows(val columns: Seq[Attribute], budget: ExpressionBudget) {
    def value(source: RowExpression): Either[Problem, Expression] =
      RowExpressions.resolve(source, columns, budget)
  }

  private def derived(
      statistic: Statistic,
      of: Seq[RowExpression],
      beside: Seq[Beside],
      rows: Rows): Either[Problem, Aggregates] = for {
    numbers <- all(of)(number(_, rows))
    values = Statistics.columns(statistic, numbers).map { case (name, value) =>
      Alias(value, name)()
    }
    others <- all(beside)(ofLastArrival(_, rows))
    _ <- all(beside.zip(others)) { case (written, read) =>
      own(values.map(_.name).toSet, written, read)
    }
  } yield Aggregates(Nil, values ++ others.flatten.distinctBy(_.name))

  private def number(source: RowExpression, rows: Rows): Either[Problem, Expression] =
    ofRow(source, rows).flatMap { value =>
      value.dataType match {
        case DoubleType => Right(value)
        case _: NumericType => Right(Cast(value, DoubleType))
        case other =>
          refused(source, Category.Type, s"a number, not ${other.sql.take(ShownType)}")
      }
    }

  private def ofLastArrival(beside: Beside, rows: Rows): Either[Problem, Seq[NamedExpression]] =
    beside match {
      case _: Beside.AllColumns =>
        Right(rows.columns.map(column => Alias(OfLastArrival(column), column.name)()))
      case Beside.Of(Named(name, source)) =>
        ofRow(source, rows).map(value => Seq(Alias(OfLastArrival(value), name)()))
    }

  /** Refuses a column beside a statistic that has the name of a value of the statistic, as Esper
    * does.
    */
  private def own(
      taken: Set[String],
      written: Beside,
      read: Seq[NamedExpression]): Either[Problem, Unit] =
    read
      .find(column => taken(column.name))
      .map { column =>
        val message = s"expected no column of the name ${Names.shown(column.name)}, which a " +
          "value of the statistic has"
        Problem(Category.DuplicateColumn, written.offset, message)
      }
      .toLeft(())

  private def ofRow(source: RowExpression, rows: Rows): Either[Problem, Expression] =
    rows.value(source).flatMap { value =>
      if (AggregateExpression.containsAggregate(value)) {
        refused(source, Category.Unsupported, "no aggregate here, where a row stands alone")
      } else Right(value)
    }

  private def selected(
      named: Seq[Named],
      by: Seq[RowExpression],
      rows: Rows): Either[Problem, Aggregates] = for {
    keys <- all(by)(key(_, rows))
    values <- all(named)(column => rows.value(column.value))
    _ <- all(named.zip(values)) { case (column, value) => checkDistinct(column.value, value) }
    _ <- Either.cond(
      values.exists(AggregateExpression.containsAggregate),
      (),
      Problem(
        Category.Unsupported,
        named.head.value.offset,
        "expected an aggregate, such as count(*), in the list"))
    read <- all(named.zip(values)) { case (column, value) =>
      overKeys(column, value, keys).map(Alias(_, column.name)())
    }
  } yield Aggregates(keys, read)

  private def key(source: RowExpression, rows: Rows): Either[Problem, NamedExpression] =
    ofRow(source, rows).flatMap {
      case value if !KeyTypes.accept(value.dataType) =>
        val shown = value.dataType.sql.take(ShownType)
        refused(source, Category.Type, s"a value that can be compared for equality, not $shown")
      case column: Attribute => Right(column)
      case value => Right(Alias(value, source.sql)())
    }

  private def checkDistinct(source: RowExpression, value: Expression): Either[Problem, Unit] = {
    val hasUnsupported = value.exists {
      case aggregate: AggregateExpression =>
        aggregate.isDistinct && !aggregate.aggregateFunction.children.forall(argument =>
          KeyTypes.acceptDistinct(argument.dataType))
      case _ => false
    }
    if (hasUnsupported) {
      refused(source, Category.Type, "values after DISTINCT that can be compared for equality")
    } else Right(())
  }

  /** Replaces the parts of a value that equal a grouping key by the attribute of the key. Refuses
    * other columns outside aggregates: the value is computed over many rows, so no single row can
    * supply them.
    */
  private def overKeys(
      column: Named,
      value: Expression,
      keys: Seq[NamedExpression]): Either[Problem, Expression] = {
    def replaced(part: Expression): Expression = part match {
      case aggregate: AggregateExpression => aggregate
      case other =>
        keys.find(meaning(_).semanticEquals(other)) match {
          case Some(key) => key.toAttribute
          case None => other.mapChildren(replaced)
        }
    }
    val found = replaced(value)
    outsideAggregates(found).find(!AttributeSet(keys.map(_.toAttribute)).contains(_)) match {
      case None => Right(found)
      case Some(stranger) =>
        val what =
          s"an aggregate or a key of group by, which ${Names.shown(stranger.name)} is not"
        refused(column.value, Category.Unsupported, what)
    }
  }

  private def meaning(key: NamedExpression): Expression = key match {
    case Alias(value, _) => value
    case column => column
  }

  private def outsideAggregates(value: Expression): Seq[Attribute] = value match {
    case _: AggregateExpression => Nil
    case column: Attribute => Seq(column)
    case other => other.children.flatMap(outsideAggregates)
  }

  private def refused(
      source: RowExpression,
      category: Category,
      expected: String): Either[Problem, Nothing] =
    Left(Problem(category, source.offset, s"expected $expected"))

  private val ShownType = 60
}
