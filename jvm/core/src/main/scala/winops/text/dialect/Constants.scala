package winops.text.dialect

import winops.policy.{Category, Scope}

/** Evaluates constant expressions.
  *
  * @param scope
  *   gives the values of parameters; its columns only make a message clearer
  * @param mixed
  *   true if one expression may contain whole numbers and fractions; if false, a mixture is
  *   `type`
  */
final class Constants(scope: Scope, mixed: Boolean) {

  /** The value of an expression. A name that is not a parameter is `unbound-parameter`. */
  def value(expr: Expr): Either[Problem, Value] = expr match {
    case Expr.Number(token) => Value.of(token)
    case Expr.Name(token) =>
      scope.parameters
        .get(token.name)
        .toRight(unbound(token))
        .flatMap(Value.of(_, token.offset))
    case Expr.Negated(operand, offset) => value(operand).flatMap(Value.negated(_, offset))
    case Expr.Parentheses(inner, _) => value(inner)
    case Expr.Chain(first, links) => links.foldLeft(value(first))(applied)
  }

  /** A number of rows: whole (else `type`), and from 1 to [[Limits.MaxRows]] (else `range`). */
  def rows(expr: Expr): Either[Problem, Long] = count(expr, "rows")

  /** A number of things that are at most as many as rows, with the same limits as [[rows]].
    *
    * @param things
    *   noun for messages
    */
  def count(expr: Expr, things: String): Either[Problem, Long] = value(expr).flatMap {
    case Value.Fraction(_, source) =>
      Left(
        Problem(Category.Type, source, s"expected a whole number of $things, without a fraction"))
    case Value.Whole(count) =>
      Either.cond(
        count >= 1 && count <= Limits.MaxRows,
        count,
        Problem(
          Category.Range,
          expr.offset,
          s"expected a number of $things from 1 to ${Limits.MaxRows}, not $count"))
  }

  /** A number with or without a fraction. */
  def decimal(expr: Expr): Either[Problem, BigDecimal] = value(expr).map(Value.decimal)

  private def applied(left: Either[Problem, Value], link: Expr.Link): Either[Problem, Value] =
    for {
      l <- left
      r <- value(link.operand)
      _ <- Either.cond(mixed || alike(l, r), (), mixture(link.operator))
      result <- Value.applied(l, link.operator, r, link.operand.offset)
    } yield result

  private def alike(left: Value, right: Value): Boolean = (left, right) match {
    case (_: Value.Whole, _: Value.Whole) | (_: Value.Fraction, _: Value.Fraction) => true
    case _ => false
  }

  private def mixture(operator: Token.Symbol): Problem = Problem(
    Category.Type,
    operator.offset,
    "expected two whole numbers or two numbers with a fraction")

  private def unbound(token: Token.Named): Problem = {
    val name = Names.shown(token.name)
    val message =
      if (scope.columns.contains(token.name)) {
        s"expected a parameter; $name is a column. Write a number, or a name that is no column's " +
          "and has a value"
      } else
        s"expected a parameter; $name has no value. ${Parameters.howToGive(token.name, scope.parameters.keys)}"
    Problem(Category.UnboundParameter, token.offset, message)
  }
}
