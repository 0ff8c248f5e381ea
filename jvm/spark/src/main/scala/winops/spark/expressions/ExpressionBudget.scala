package winops.spark.expressions

/** What the expressions of one policy may cost together until they are understood: Spark's rules
  * look at each part of each, and go through all of their own for every expression.
  */
private[spark] final class ExpressionBudget {
  import ExpressionBudget._

  private var spent = 0

  /** Whether an expression of so many parts can be afforded. */
  def affords(parts: Int): Boolean = spent + PartsOfEach + parts <= MaxParts

  def spend(parts: Int): Unit = spent += PartsOfEach + parts
}

private[spark] object ExpressionBudget {

  /** The greatest number of parts of all expressions together. */
  val MaxParts = 1500

  /** As how many parts each expression counts besides its own. */
  val PartsOfEach = 20
}
