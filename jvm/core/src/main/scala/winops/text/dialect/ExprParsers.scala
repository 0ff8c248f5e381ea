package winops.text.dialect

import winops.policy.Category

/** Grammar of constant expressions: `+ - * /`, in some dialects `%`, minus signs, parentheses,
  * numbers and parameters.
  */
trait ExprParsers extends TokenParsers {

  /** Returns true if the word is a keyword, which cannot be a name. */
  protected def isReserved(word: Token.Word): Boolean

  /** A name that is not a keyword. */
  protected def name: Parser[Token.Named] = accept(
    "a name",
    {
      case word: Token.Word if !isReserved(word) => word
      case quoted: Token.Quoted => quoted
    })

  /** An expression.
    *
    * @param what
    *   what a message names as expected if no expression follows
    */
  protected def expr(what: String): Parser[Expr] = sum(0, what)

  /** The operators with the precedence of `*`. */
  protected def products: String = "*/"

  protected def number: Parser[Expr.Number] =
    accept("a number", { case token: Token.Number => Expr.Number(token) })

  private def sum(depth: Int, what: String): Parser[Expr] =
    chain(chain(unary(depth, what), products), "+-")

  private def chain(operand: Parser[Expr], operators: String): Parser[Expr] = {
    val link = operator(operators) ~ operand ^^ { case symbol ~ right =>
      Expr.Link(symbol, right)
    }
    operand ~ rep(link) ^^ {
      case first ~ Nil => first
      case first ~ links => Expr.Chain(first, links)
    }
  }

  private def operator(chars: String): Parser[Token.Symbol] =
    accept(chars, { case token: Token.Symbol if chars.indexOf(token.char.toInt) >= 0 => token })

  private def unary(depth: Int, what: String): Parser[Expr] =
    if (depth > Limits.MaxDepth) {
      missing(
        Category.Limit,
        s"at most ${Limits.MaxDepth} minus signs and parentheses around each other")
    } else {
      number | parameter | negated(depth, what) | parentheses(depth, what) | expected(what)
    }

  private def parameter: Parser[Expr] = name ^^ (Expr.Name(_))

  private def negated(depth: Int, what: String): Parser[Expr] =
    symbol('-') ~ unary(depth + 1, what) ^^ { case minus ~ operand =>
      Expr.Negated(operand, minus.offset)
    }

  private def parentheses(depth: Int, what: String): Parser[Expr] = {
    val close = symbol(')') | expected("an operator or )")
    symbol('(') ~ sum(depth + 1, what) <~ close ^^ { case open ~ inner =>
      Expr.Parentheses(inner, open.offset)
    }
  }
}
