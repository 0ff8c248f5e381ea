package winops.spark.expressions

import java.util.function.{Function => JavaFunction}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.DataType

/** An expression of a policy that Spark evaluates in the operator's input. Failures are redacted
  * and have the condition `WINOPS_EXPRESSION`.
  *
  * The expression is conditional, so that Spark does not evaluate a subexpression beforehand,
  * where its failure would not be redacted.
  *
  * @param child
  *   the expression
  * @param shown
  *   the expression as an error message shows it
  */
final case class RedactingExpression(child: Expression, shown: String)
    extends UnaryExpression
    with ConditionalExpression {
  import RedactingExpression._

  @transient private lazy val failureOf = new FailureOf(shown)

  override def dataType: DataType = child.dataType
  override def alwaysEvaluatedInputs: Seq[Expression] = Nil
  override def branchGroups: Seq[Seq[Expression]] = Nil

  override def withNewAlwaysEvaluatedInputs(inputs: Seq[Expression]): RedactingExpression =
    this

  override lazy val canonicalized: Expression = RedactingExpression(child.canonicalized, "")
  override def sql: String = child.sql
  override def toString: String = child.toString

  override def eval(input: InternalRow): Any =
    try child.eval(input)
    catch { case error: Throwable => throw failureOf(error) }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val evaluated = child.genCode(ctx)
    val failure =
      ctx.addReferenceObj("failureOf", failureOf, classOf[JavaFunction[_, _]].getName)
    val error = ctx.freshName("error")
    ev.copy(code = code"""
      boolean ${ev.isNull} = true;
      ${CodeGenerator.javaType(dataType)} ${ev.value} = ${CodeGenerator.defaultValue(dataType)};
      try {
        ${evaluated.code}
        ${ev.isNull} = ${evaluated.isNull};
        ${ev.value} = ${evaluated.value};
      } catch (Throwable $error) {
        throw (RuntimeException) $failure.apply($error);
      }""")
  }

  override protected def withNewChildInternal(newChild: Expression): RedactingExpression =
    copy(child = newChild)
}

object RedactingExpression {

  /** Wraps an expression unless it cannot fail. Spark pushes simple conditions down to sources
    * only if they are not wrapped.
    */
  def of(expression: Expression): Expression =
    if (cannotFail(expression)) expression
    else RedactingExpression(expression, RedactingEvaluator.shown(UnqualifiedSql.of(expression)))

  /** Wraps the conjuncts of a condition one by one. */
  def ofCondition(condition: Expression): Expression = condition match {
    case And(left, right) => And(ofCondition(left), ofCondition(right))
    case part => of(part)
  }

  private def cannotFail(expression: Expression): Boolean = expression match {
    case _: Attribute | _: Literal | _: RedactingExpression => true
    case _: BinaryComparison | _: And | _: Or | _: Not | _: IsNull | _: IsNotNull | _: In =>
      expression.children.forall(cannotFail)
    case cast: Cast =>
      Cast.canUpCast(cast.child.dataType, cast.dataType) && cannotFail(cast.child)
    case _ => false
  }

  private final class FailureOf(shown: String)
      extends JavaFunction[Throwable, RuntimeException]
      with Serializable {
    override def apply(error: Throwable): RuntimeException = error match {
      case EvaluationFailure(known) => RedactingEvaluator.failure(shown, known)
      case other => throw other
    }
  }
}
