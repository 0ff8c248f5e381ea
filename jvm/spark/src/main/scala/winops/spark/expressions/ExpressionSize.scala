package winops.spark.expressions

import java.util.IdentityHashMap

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{CommonExpressionId, CommonExpressionRef, Expression, RuntimeReplaceable, With}

/** How many parts an expression has, each counted as often as it stands there: Spark writes an
  * operand that it needs twice once, and whoever goes through the tree meets it twice.
  * Expressions inside each other that do so double with each, so they have to be counted before
  * anyone does.
  *
  * @param limit
  *   the greatest size that matters; what is larger is `limit + 1`
  */
private[spark] final class ExpressionSize(limit: Int) {

  /** As it stands there. */
  def written(expression: Expression): Int = new Count(_.children).of(expression)

  /** With everything in its place that only stands for another. */
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
