package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, Expression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.types._

import winops.policy.{Category, Policy}
import winops.spark.row.{KeyTypes, SortKeys}
import winops.terms.{Purpose, RowExpression}
import winops.text.dialect.Problem

/** The expressions of a policy, resolved over the columns of a row.
  *
  * @param group
  *   the group key: a window exists for each distinct combination of its values
  * @param filter
  *   the condition of the rows that the policy applies to
  * @param ofRows
  *   the expressions that the machine evaluates on the rows of a group
  */
final case class PolicyExpressions(
    group: Seq[Expression],
    filter: Option[Expression],
    ofRows: Seq[PolicyExpression]) {

  /** Returns true if a condition refers to the arrival time of a row. */
  def askForTime: Boolean = ofRows.exists(_.exists {
    case WindowFact(Fact.NewestTimestamp | Fact.OldestTimestamp) => true
    case _ => false
  })
}

object PolicyExpressions {

  /** Resolves all expressions of the policy. Returns the first problem if an expression does not
    * fit the columns or its use.
    *
    * @param budget
    *   limits the cost of the expressions together with those of the policy's projection
    */
  def resolve(
      policy: Policy,
      columns: Seq[Attribute],
      budget: ExpressionBudget = new ExpressionBudget): Either[Problem, PolicyExpressions] = {
    val resolver = new Resolver(columns, budget)
    for {
      group <- all(policy.group.keys)(resolver.value(_, Use.Key))
      filter <- all(policy.filter.toSeq)(resolver.value(_, Use.Filter))
      reads = policy.retention.windows.flatMap(_.reads) ++
        policy.key.map((Purpose.SortKey: Purpose) -> _)
      ofRows <- all(reads) { case (purpose, source) =>
        val use = Use.of(purpose)
        resolver.value(source, use).map(PolicyExpression(use.role, source, _))
      }
    } yield PolicyExpressions(
      group,
      filter.headOption,
      ofRows.distinctBy(use => (use.role, use.source)))
  }

  /** A use of an expression in a policy: the filter, or a [[Purpose]].
    *
    * @param role
    *   the purpose of the expression
    * @param expected
    *   the accepted values, for an error message
    * @param accepts
    *   returns true for the accepted types
    */
  private sealed abstract class Use(
      val role: Role,
      val expected: String,
      val accepts: DataType => Boolean)

  private object Use {
    case object Key
        extends Use(Role.Key, "a value that can be compared for equality", KeyTypes.accept)

    case object SortKey
        extends Use(
          Role.SortKey,
          "a number, a string, a boolean, a date, a timestamp or a binary",
          SortKeys.accept)

    case object Timestamp
        extends Use(Role.Timestamp, "a number or a timestamp", t => isNumber(t) || isInstant(t))

    case object Deadline
        extends Use(
          Role.Timestamp,
          "a whole number or a timestamp",
          t => isWhole(t) || isInstant(t))

    case object WholeNumber
        extends Use(Role.Number, "a whole number or a timestamp", t => isWhole(t) || isInstant(t))

    case object RealNumber extends Use(Role.Number, "a number", isNumber)

    case object Condition extends Use(Role.Condition, "a condition", isTruth)

    case object Filter extends Use(Role.Condition, "a condition", isTruth)

    def of(purpose: Purpose): Use = purpose match {
      case Purpose.Key => Key
      case Purpose.SortKey => SortKey
      case Purpose.Timestamp => Timestamp
      case Purpose.Deadline => Deadline
      case Purpose.WholeNumber => WholeNumber
      case Purpose.RealNumber => RealNumber
      case Purpose.Condition => Condition
    }

    private def isNumber(dataType: DataType): Boolean = dataType.isInstanceOf[NumericType]

    private def isWhole(dataType: DataType): Boolean = dataType match {
      case ByteType | ShortType | IntegerType | LongType => true
      case _ => false
    }

    private def isInstant(dataType: DataType): Boolean = dataType match {
      case TimestampType | TimestampNTZType => true
      case _ => false
    }

    private def isTruth(dataType: DataType): Boolean = dataType match {
      case BooleanType | NullType => true
      case _ => false
    }
  }

  private final class Resolver(columns: Seq[Attribute], budget: ExpressionBudget) {
    private val names = new ConditionNames(columns)

    /** Resolves an expression and checks that it fits its use. */
    def value(source: RowExpression, use: Use): Either[Problem, Expression] = {
      def refused(category: Category, expected: String) =
        Left(Problem(category, source.offset, s"expected $expected"))
      resolved(source, use).flatMap { expression =>
        if (AggregateExpression.containsAggregate(expression)) {
          refused(Category.Unsupported, "no aggregate here, where a row stands alone")
        } else if (!use.accepts(expression.dataType)) {
          refused(Category.Type, s"${use.expected}, not ${shown(expression.dataType)}")
        } else if (needsColumn(use) && expression.references.isEmpty) {
          refused(Category.Type, "an expression with a column, not a constant")
        } else Right(asValue(expression))
      }
    }

    private def resolved(source: RowExpression, use: Use): Either[Problem, Expression] =
      if (use == Use.Condition) names.resolve(source, budget)
      else RowExpressions.resolve(source, columns, budget)

    private def needsColumn(use: Use): Boolean = use == Use.Key || use == Use.SortKey

    private def asValue(expression: Expression): Expression = expression.dataType match {
      // A condition of NULL never holds.
      case NullType => Cast(expression, BooleanType)
      case _ => expression
    }

    private def shown(dataType: DataType): String = dataType.sql.take(ShownType)
  }

  private val ShownType = 60

  /** Returns the results of `each` for all values, or the first problem. */
  private[spark] def all[A, B](values: Seq[A])(
      each: A => Either[Problem, B]): Either[Problem, Seq[B]] =
    values.foldLeft[Either[Problem, Vector[B]]](Right(Vector.empty)) { (done, value) =>
      done.flatMap(results => each(value).map(results :+ _))
    }
}
