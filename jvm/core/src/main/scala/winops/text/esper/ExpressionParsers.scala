package winops.text.esper

import winops.policy.Category
import winops.text.dialect.{Names, Problem, Token}

/** Grammar of Esper's expressions over the columns of a row, as far as Spark SQL has the same
  * expressions. Spark checks the names of functions and the types.
  */
private[esper] trait ExpressionParsers extends OperandParsers {
  import ExpressionParsers._
  import OperandParsers.OperandContext

  /** An expression.
    *
    * @param what
    *   what a message names as expected if no expression follows
    * @param inCondition
    *   true for the condition of a window, which may read properties of the window
    */
  protected def phrase(what: String, inCondition: Boolean): Parser[Phrase] =
    expression(OperandContext(what, inCondition))

  override protected def expression(at: OperandContext): Parser[Phrase] =
    chain(Rank.Or, chain(Rank.And, chain(Rank.Bits, negation(at))))

  private def negation(at: OperandContext): Parser[Phrase] =
    limited(at)(keyword("NOT") ~> negation(at.inside) ^^ { operand =>
      Phrase.operation(Rank.Not, Phrase.both("not"), operand)
    }) | equality(at)

  private def equality(at: OperandContext): Parser[Phrase] = {
    val operand = comparison(at)
    operand >> (left => identity(left, operand) | chained(Rank.Equality, left, operand))
  }

  /** `is` and `is not`, which compare null like any other value. */
  private def identity(left: Phrase, operand: Parser[Phrase]): Parser[Phrase] =
    keyword("IS") ~> opt(keyword("NOT")) ~ operand ^^ { case not ~ right =>
      val is = if (not.isEmpty) "is" else "is not"
      val sql = if (right.text == "null") is else if (not.isEmpty) "<=>" else "is distinct from"
      Phrase.operation(Rank.Equality, left, Phrase.Connective(is, sql), right)
    }

  private def comparison(at: OperandContext): Parser[Phrase] = {
    val operand = concatenation(at)
    operand >> { left =>
      predicate(left, operand, at) | chained(Rank.Comparison, left, operand)
    }
  }

  private def predicate(
      left: Phrase,
      operand: Parser[Phrase],
      at: OperandContext): Parser[Phrase] = {
    def operation(words: String, items: Phrase.Item*): Phrase =
      Phrase.operation(Rank.Comparison, left +: Phrase.both(words) +: items: _*)
    def within(range: Phrase.Range, not: String) = {
      val phrase = Phrase.inRange(left, range, isNegated = not.nonEmpty)
      Parser(in => checked(shortEnough(phrase, in.first.offset))(in))
    }
    def in(not: String) = {
      val open = bracket('(', '[') | expected("( or [ and values")
      keyword("IN") ~> open ~ expression(at.inside) >> { case opening ~ first =>
        val range = symbol(':') ~> expression(at.inside) ~ (bracket(')', ']') |
          expected("an operator, ) or ]")) >> { case last ~ closing =>
          within(Phrase.Range(first, last, opening == '[', closing == ']'), not)
        }
        val others = rep(symbol(',') ~> expression(at.inside)) <~
          (bracket(')', ']') | expected("an operator, a comma, a colon, ) or ]"))
        range | others ^^ (more => operation(s"${not}in", Phrase.list("", first +: more)))
      }
    }
    def between(not: String) = {
      val high = (keyword("AND") | expected("and")) ~> operand
      keyword("BETWEEN") ~> operand ~ high >> { case low ~ high =>
        within(Phrase.Range(low, high, hasLow = true, hasHigh = true), not)
      }
    }
    def like(not: String) = {
      val escape = opt(keyword("ESCAPE") ~> string) ^^ {
        _.toSeq.flatMap(Seq(Phrase.both("escape"), _))
      }
      keyword("LIKE") ~> operand ~ escape ^^ { case pattern ~ escape =>
        operation(s"${not}like", pattern +: escape: _*)
      }
    }
    def any(not: String) = in(not) | between(not) | like(not)
    any("") | keyword("NOT") ~> (any("not ") | expected("in, between or like")) | regexp
  }

  /** One of two brackets. Around a list of values both kinds have the same meaning. */
  private def bracket(round: Char, square: Char): Parser[Char] =
    symbol(round) ^^^ round | symbol(square) ^^^ square

  /** Limits the length of SQL. The SQL of a range repeats its ends, so ranges inside ranges grow
    * exponentially.
    */
  private def shortEnough(phrase: Phrase, offset: Int): Either[Problem, Phrase] = Either.cond(
    phrase.sql.length <= MaxSql,
    phrase,
    Problem(Category.Limit, offset, "expected fewer ranges inside each other"))

  private def regexp: Parser[Nothing] = guard(keyword("REGEXP")) ~>
    missing(Category.Unsupported, "no regexp, which is not supported; Spark has rlike(...)")

  private def concatenation(at: OperandContext): Parser[Phrase] =
    chain(Rank.Concatenation, chain(Rank.Sum, chain(Rank.Product, operand(at))))

  /** Operands with operators of one rank between them. */
  private def chain(rank: Int, operand: Parser[Phrase]): Parser[Phrase] =
    operand >> (chained(rank, _, operand))

  private def chained(rank: Int, first: Phrase, operand: Parser[Phrase]): Parser[Phrase] =
    rep(operator(rank) ~ operand) >> { links =>
      val items = links.flatMap { case (operator, _) ~ right =>
        Seq(Phrase.both(operator), right)
      }
      val whole = if (links.isEmpty) first else Phrase.operation(rank, first +: items: _*)
      checked(tooLong(links).orElse(mixed(rank, links)).toLeft(whole))
    }

  private def tooLong(links: Seq[Link]): Option[Problem] =
    links.lift(MaxLinks).map { case (_, offset) ~ _ =>
      val message = s"expected at most $MaxLinks operators of one kind in a row"
      Problem(Category.Limit, offset, message)
    }

  /** Refuses different bit operators without parentheses. Esper gives them one rank, Spark
    * several.
    */
  private def mixed(rank: Int, links: Seq[Link]): Option[Problem] = links.collectFirst {
    case (operator, offset) ~ _ if rank == Rank.Bits && operator != links.head._1._1 =>
      val message = "expected the same operator again, or parentheses around the others"
      Problem(Category.Syntax, offset, message)
  }

  /** An operator with its place, and its right operand. */
  private type Link = (String, Int) ~ Phrase

  /** An operator of the rank in its canonical spelling, and its place. */
  private def operator(rank: Int): Parser[(String, Int)] = (spelledOut | pair | single) ^? {
    case (spelled, offset) if Operators(rank).contains(spelled) =>
      (Operators(rank)(spelled), offset)
  }

  private def spelledOut: Parser[(String, Int)] =
    accept("a word", { case token: Token.Word => (Names.upper(token.text), token.offset) })

  private def single: Parser[(String, Int)] =
    accept("a symbol", { case Token.Symbol(char, offset) => (char.toString, offset) })

  private def pair: Parser[(String, Int)] = single ~ single ^? {
    case (first, offset) ~ ((second, next)) if next == offset + 1 && Pairs(first + second) =>
      (first + second, offset)
  }
}

private[esper] object ExpressionParsers {

  /** The most operators of one rank in a row. Spark turns them into a tree of this depth. */
  private val MaxLinks = 100

  /** The longest SQL of an expression with a range, in UTF-16 units. */
  private val MaxSql = 100000

  /** The canonical spelling of each operator, by rank and accepted spelling. */
  private val Operators: Map[Int, Map[String, String]] = Map(
    Rank.Or -> Map("OR" -> "or"),
    Rank.And -> Map("AND" -> "and", "&&" -> "and"),
    Rank.Bits -> alike("&", "|", "^"),
    Rank.Equality -> (alike("=", "!=") ++ Map("==" -> "=", "<>" -> "!=")),
    Rank.Comparison -> alike("<", "<=", ">", ">="),
    Rank.Concatenation -> alike("||"),
    Rank.Sum -> alike("+", "-"),
    Rank.Product -> alike("*", "/", "%"))

  private val Pairs: Set[String] = Operators.values.flatMap(_.keys).filter(isPair).toSet

  private def alike(operators: String*): Map[String, String] = operators.map(o => o -> o).toMap

  private def isPair(operator: String): Boolean =
    operator.length == 2 && !operator.exists(Character.isLetter)
}
