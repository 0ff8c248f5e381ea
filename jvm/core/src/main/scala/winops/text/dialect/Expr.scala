package winops.text.dialect

/** A constant expression as the text spells it. */
sealed trait Expr {

  /** Index of the first character in the text. */
  def offset: Int
}

object Expr {
  final case class Number(token: Token.Number) extends Expr {
    override def offset: Int = token.offset
  }

  /** A parameter. */
  final case class Name(token: Token.Named) extends Expr {
    override def offset: Int = token.offset
  }

  final case class Negated(operand: Expr, offset: Int) extends Expr

  final case class Parentheses(inner: Expr, offset: Int) extends Expr

  /** Operators of the same precedence, applied from the left. The links are a list, because a
    * long sum would be a deep tree.
    */
  final case class Chain(first: Expr, links: Seq[Link]) extends Expr {
    override def offset: Int = first.offset
  }

  final case class Link(operator: Token.Symbol, operand: Expr)
}
