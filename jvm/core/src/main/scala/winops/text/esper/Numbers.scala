package winops.text.esper

import winops.policy.{Category, Scope}
import winops.text.dialect.{Expr, Limits, Names, Parameters, Problem, Token, Value}

/** Evaluates constant expressions by Esper's rules: a quotient keeps its fraction. */
private[esper] final class Numbers(scope: Scope) {

  /** A number of rows. The expression must consist of ints and give a whole number (else `type`).
    * The number must be from 1 to the largest int (else `range`). Esper lets a sum of ints
    * overflow; here an overflow is `range`.
    */
  def rows(expr: Expr): Either[Problem, Long] = {
    def notInt(offset: Int) =
      Problem(Category.Type, offset, "expected a whole number of rows, which is an int")
    def outOfBounds(rows: Long) = Problem(
      Category.Range,
      expr.offset,
      s"expected a number of rows from 1 to ${Int.MaxValue}, not $rows")
    val numerals = literals(expr).map(Numeral.of)
    for {
      _ <- numerals.find(_.isLong).map(long => notInt(long.offset)).toLeft(())
      rows <- value(expr).flatMap {
        case Value.Fraction(_, source) => Left(notInt(source))
        case Value.Whole(rows) =>
          Either.cond(rows >= 1 && rows <= Int.MaxValue, rows, outOfBounds(rows))
      }
      // In Esper a whole number larger than an int is a long, and so is any expression with such
      // a number.
      _ <- numerals.find(_.isLargerThanInt).map(long => notInt(long.offset)).toLeft(())
    } yield rows
  }

  /** An instant in whole milliseconds since the epoch (else `type`), at most [[Limits.MaxMicros]]
    * milliseconds before or after it (else `range`).
    */
  def instant(expr: Expr): Either[Problem, Long] = value(expr).flatMap {
    case Value.Fraction(_, source) =>
      Left(Problem(Category.Type, source, "expected whole milliseconds since 1970"))
    case Value.Whole(millis) =>
      Either.cond(
        math.abs(millis) <= Limits.MaxMicros && millis != Long.MinValue,
        millis,
        Problem(
          Category.Range,
          expr.offset,
          s"expected at most ${Limits.MaxMicros} milliseconds before or after 1970"))
  }

  /** A number with or without a fraction. */
  def decimal(expr: Expr): Either[Problem, BigDecimal] = value(expr).map(Value.decimal)

  private def value(expr: Expr): Either[Problem, Value] = expr match {
    case Expr.Number(token) => Numeral.of(token).value
    case Expr.Name(token) => parameter(token)
    case Expr.Negated(operand, offset) => value(operand).flatMap(Value.negated(_, offset))
    case Expr.Parentheses(inner, _) => value(inner)
    case Expr.Chain(first, links) => links.foldLeft(value(first))(applied)
  }

  private def applied(left: Either[Problem, Value], link: Expr.Link): Either[Problem, Value] = {
    val operator = link.operator
    for {
      l <- left
      r <- value(link.operand)
      dividend =
        if (operator.char == '/') Value.Fraction(Value.decimal(l), operator.offset) else l
      result <- Value.applied(dividend, operator, r, link.operand.offset)
    } yield result
  }

  /** The value of a parameter. Esper refuses columns here, because no row exists when a window is
    * created.
    */
  private def parameter(token: Token.Named): Either[Problem, Value] =
    scope.parameters.get(token.name) match {
      case Some(value) => Value.of(value, token.offset)
      case None if scope.columns.contains(token.name) =>
        Left(
          Problem(
            Category.Type,
            token.offset,
            s"expected a constant; ${Names.shown(token.name)} is a column"))
      case None =>
        Left(
          Problem(
            Category.UnboundParameter,
            token.offset,
            s"expected a constant; ${Names.shown(token.name)} has no value. " +
              Parameters.howToGive(token.name, scope.parameters.keys)))
    }

  private def literals(expr: Expr): Seq[Token.Number] = expr match {
    case Expr.Number(token) => Seq(token)
    case Expr.Name(_) => Nil
    case Expr.Negated(operand, _) => literals(operand)
    case Expr.Parentheses(inner, _) => literals(inner)
    case Expr.Chain(first, links) => literals(first) ++ links.map(_.operand).flatMap(literals)
  }
}
