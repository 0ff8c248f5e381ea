package winops.spark.expressions

/** The purpose for which the machine evaluates an expression.
  * [[winops.window.expression.Evaluator]] has a method for each.
  */
sealed trait Role

object Role {
  case object Key extends Role
  case object SortKey extends Role
  case object Timestamp extends Role
  case object Number extends Role
  case object Condition extends Role
}
