package winops.spark.expressions

import java.util.IdentityHashMap

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{CommonExpressionId, CommonExpressionRef, Expression, RuntimeReplaceable, With}

/** Counts the parts (tree nodes) of an expression, shared parts once for each occurrence. Spark
  * shares an operand that it needs twice, but a traversal of the tree visits it twice, so nesting
  * such expressions doubles the cost each time. The size must therefore be known before any
  * traversal.
  *
  * @param limit
  *   the largest size of interest; larger expressions have the size `limit + 1`
  */
private[spark] final class ExpressionSize(limit: Int) {

  /** Returns the size of the expression as it is. */
  def written(expression: Expression): Int = new Count(_.children).of(expression)

  /** Returns the size with common expressions and replaceable functions inlined. */
  def evaluated(expression: Expression): Int = {
    val definitions = mutable.Map.empty[CommonExpressionId, Expression]
    new Count({
      case With(child, common) =>
        common.foreach(definition => definitions(definition.id) = definition.child)
        Seq(child)
      case reference: CommonExpressionRef => definitions.get(reference.id).toSeq
      case replaced: RuntimeReplaceable => Seq(replaced.replacement)
      case other => other.children
    }).of(expression)
  }

  private final class Count(parts: Expression => Seq[Expression]) {
    private val known = new IdentityHashMap[Expression, Integer]

    def of(expression: Expression): Int = known.get(expression) match {
      case null =>
        var size = 1L
        val each = parts(expression).iterator
        while (each.hasNext && size <= limit) size += of(each.next())
        val counted = math.min(size, limit + 1L).toInt
        known.put(expression, counted)
        counted
      case size => size
    }
  }
}
