package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{CommonExpressionRef, Expression, RuntimeReplaceable, With}
import org.apache.spark.sql.catalyst.trees.TreePattern

/** Inlines common expressions, which Spark defines once and refers to by id. */
private[spark] object CommonExpressions {

  /** Replaces references to common expressions by their definitions. */
  val inPlace: PartialFunction[Expression, Expression] = { case With(child, definitions) =>
    val meanings = definitions.map(definition => definition.id -> definition.child).toMap
    child.transform { case reference: CommonExpressionRef =>
      meanings.getOrElse(reference.id, reference)
    }
  }

  /** Returns an expression without common expressions, also of functions such as `nullif` whose
    * replacement has some. For each of them, the optimizer adds a column to the input, whose name
    * has a number of this JVM. The column would be stored with the rows, and another JVM would
    * not find it.
    */
  def inlined[A <: Expression](expression: A): A = {
    val plain =
      expression.transformUpWithPruning(_.containsPattern(TreePattern.RUNTIME_REPLACEABLE)) {
        case call: RuntimeReplaceable =>
          call.replacement
      }
    val result =
      if (plain.containsPattern(TreePattern.WITH_EXPRESSION)) plain.transformUp(inPlace)
      else expression
    result.asInstanceOf[A]
  }
}
