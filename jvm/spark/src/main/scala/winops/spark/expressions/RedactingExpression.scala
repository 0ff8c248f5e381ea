package winops.spark.expressions

import java.util.function.{Function => JavaFunction}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.DataType

/** An expression of a policy that Spark evaluates by itself, before the operator, and whose
  * failures show no value of a row: they are `WINOPS_EXPRESSION`.
  *
  * It is conditional in that Spark may not evaluate a part of it beforehand, where failures would
  * be its own.
  *
  * @param shown
  *   the expression as a failure shows it
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

  /** The value of an expression over a row, which stays as it is where it cannot fail: Spark's
    * sources know the simplest conditions and read less by them.
    */
  def of(expression: Expression): Expression =
    if (cannotFail(expression)) expression
    else RedactingExpression(expression, RedactingEvaluator.shown(UnqualifiedSql.of(expression)))

  /** A condition, part by part. */
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
