package winops.spark.expressions

/** Limits the cost of analyzing the expressions of one policy. Spark's analyzer runs all of its
  * rules for every expression and visits every part of each.
  */
private[spark] final class ExpressionBudget {
  import ExpressionBudget._

  private var spent = 0

  /** Returns true if the budget has room for an expression with this number of parts. */
  def affords(parts: Int): Boolean = spent + PartsOfEach + parts <= MaxParts

  def spend(parts: Int): Unit = spent += PartsOfEach + parts
}

private[spark] object ExpressionBudget {

  /** The maximum number of parts of all expressions together. */
  val MaxParts = 1500

  /** The fixed cost of an expression, in parts. */
  val PartsOfEach = 20
}
