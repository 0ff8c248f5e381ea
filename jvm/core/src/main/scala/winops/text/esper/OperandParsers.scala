package winops.text.esper

import winops.policy.Category
import winops.text.dialect.{Limits, Names, Problem, Token, TokenParsers}

/** Grammar of the operands of Esper's expressions: constants, columns, parameters, functions,
  * casts, CASE, and expressions in parentheses.
  */
private[esper] trait OperandParsers extends TokenParsers {
  import OperandParsers._

  protected def text: String
  protected def properties: Properties

  /** An expression of any rank. */
  protected def expression(at: OperandContext): Parser[Phrase]

  protected def operand(at: OperandContext): Parser[Phrase] = limited(at)(
    parentheses(at) | minus(at) | number(isNegative = false) | string | constant | cases(at) |
      subquery | named(at) | expected(at.what))

  /** A text in quotes. */
  protected def string: Parser[Phrase] =
    accept("a text", { case token: Token.Literal => token }) >> { token =>
      checked(Literals.unescaped(text, token).map(Literals.string))
    }

  /** Expressions with commas between them, and a closing parenthesis. The opening one has been
    * read.
    */
  protected def listed(at: OperandContext): Parser[Seq[Phrase]] =
    rep1sep(expression(at.inside), symbol(',')) <~ close

  protected def limited(at: OperandContext)(parser: => Parser[Phrase]): Parser[Phrase] =
    if (at.depth <= Limits.MaxDepth) parser
    else missing(Category.Limit, s"at most ${Limits.MaxDepth} expressions inside each other")

  private def parentheses(at: OperandContext): Parser[Phrase] =
    symbol('(') ~> expression(at.inside) <~ close

  private def minus(at: OperandContext): Parser[Phrase] =
    symbol('-') ~> (number(isNegative = true) |
      operand(at.inside) ^^ (Phrase.operation(Rank.Minus, Phrase.both("-"), _)))

  private def number(isNegative: Boolean): Parser[Phrase] =
    accept("a number", { case token: Token.Number => token }) >> { token =>
      checked(Literals.number(token, isNegative))
    }

  private def constant: Parser[Phrase] = keyword("NULL", "TRUE", "FALSE") ^^ { token =>
    Phrase.constant(Words.lower(token.text))
  }

  private def cases(at: OperandContext): Parser[Phrase] = {
    def value = expression(at.inside)
    val when = keyword("WHEN") ~> value ~ ((keyword("THEN") | expected("then")) ~> value) ^^ {
      case condition ~ result => Seq(Phrase.both("when"), condition, Phrase.both("then"), result)
    }
    val whens = (when | expected("when")) ~ rep(when) ^^ { case first ~ more =>
      first ++ more.flatten
    }
    val otherwise = opt(keyword("ELSE") ~> value ^^ (Seq(Phrase.both("else"), _)))
    val of = opt(not(keyword("WHEN")) ~> value)
    val end = keyword("END") | expected("when, else or end")
    keyword("CASE") ~> of ~ whens ~ otherwise <~ end ^^ { case of ~ whens ~ otherwise =>
      val items = of.toSeq ++ whens ++ otherwise.getOrElse(Nil)
      Phrase.operation(Rank.Case, Phrase.both("case") +: items :+ Phrase.both("end"): _*)
    }
  }

  private def subquery: Parser[Nothing] = guard(keyword("SELECT")) ~>
    missing(Category.Unsupported, "no select, because subqueries are not supported")

  /** A column, a parameter or a function. */
  private def named(at: OperandContext): Parser[Phrase] = {
    val name = accept("a name", { case token: Token.Named if !isKeyword(token) => token })
    name ~ rep(symbol('.') ~> (name | expected("a name"))) >> { case first ~ rest =>
      val path = first +: rest
      symbol('(') ~> call(path, at) | checked(properties.phrase(path, at.inCondition))
    }
  }

  private def isKeyword(token: Token.Named): Boolean = token match {
    case Token.Word(text, _) => Words.isReserved(text)
    case _ => false
  }

  /** The arguments of a function, whose name and opening parenthesis have been read. */
  private def call(path: Seq[Token.Named], at: OperandContext): Parser[Phrase] = path match {
    case Seq(Token.Word(word, offset)) if Names.quoted(word) == word =>
      Words.lower(word) match {
        case "cast" => cast(at)
        case name if NotSupported(name) =>
          unsupported(offset, s"expected no $name, which is not supported")
        case name =>
          Aggregates
            .get(name)
            .fold(arguments(at) ^^ (Phrase.list(name, _)))(aggregate(name, _, at))
      }
    case _ => unsupported(path.head.offset, "expected a function by its plain name")
  }

  private def unsupported(offset: Int, message: String): Parser[Nothing] =
    checked(Left(Problem(Category.Unsupported, offset, message)))

  private def arguments(at: OperandContext): Parser[Seq[Phrase]] =
    symbol(')') ^^^ Nil | allOrDistinct(at) <~ close ^^ (Seq(_)) | listed(at)

  /** `*`, or DISTINCT and an expression. */
  private def allOrDistinct(at: OperandContext): Parser[Phrase] = {
    val star = symbol('*') ^^^ Phrase.constant("*").copy(isConstant = false)
    star | keyword("DISTINCT") ~> expression(at.inside) ^^ { of =>
      def distinct(value: String) = s"distinct $value"
      of.copy(text = distinct(of.text), sql = distinct(of.sql), name = distinct(of.name))
    }
  }

  /** The argument of an aggregate function, and optionally the condition that its rows must meet.
    */
  private def aggregate(name: String, function: String, at: OperandContext): Parser[Phrase] = {
    val named = opt(ahead(keyword("FILTER") ~ symbol(':')) ~> keyword("FILTER") ~> symbol(':'))
    val filter = symbol(',') ~> named ~> expression(at.inside)
    val of = allOrDistinct(at) | expression(at.inside)
    symbol(')') ^^^ Phrase.list(function, Nil) | of ~ opt(filter) <~ close ^^ {
      case of ~ filter => Phrase.aggregate(name, function, of, filter)
    }
  }

  private def cast(at: OperandContext): Parser[Phrase] = {
    val separator = symbol(',') | keyword("AS") | expected("a comma and a type")
    val known = accept(
      "a type",
      Function.unlift[Token, (String, String)] {
        case token: Token.Word => Types.get(Words.lower(token.text))
        case _ => None
      })
    val supported = s"a type of ${Types.keys.toSeq.sorted.mkString(", ")}"
    val sparkType = known | missing(Category.Unsupported, supported)
    expression(at.inside) ~ (separator ~> sparkType) <~ close ^^ { case of ~ ((esper, spark)) =>
      val text = s"cast(${of.text}, $esper)"
      val sql = s"cast(${of.sql} as $spark)"
      val name = s"cast(${of.name},$esper)"
      Phrase(text, sql, name, Rank.Atom, of.isConstant, hasCall = of.hasCall)
    }
  }

  private def close: Parser[Token] = symbol(')') | expected("an operator, a comma or )")
}

private[esper] object OperandParsers {

  /** The place of an operand in an expression.
    *
    * @param what
    *   what a message names as expected at the place
    * @param inCondition
    *   true in the condition of a window, which may read properties of the window
    * @param depth
    *   number of expressions around the place
    */
  final case class OperandContext(what: String, inCondition: Boolean, depth: Int = 0) {
    def inside: OperandContext = OperandContext("a value", inCondition, depth + 1)
  }

  /** Esper's types that Spark also has, by accepted spelling: the canonical spelling and Spark's
    * name.
    */
  private val Types: Map[String, (String, String)] = Map(
    "boolean" -> ("boolean", "boolean"),
    "byte" -> ("byte", "tinyint"),
    "short" -> ("short", "smallint"),
    "int" -> ("int", "int"),
    "integer" -> ("int", "int"),
    "long" -> ("long", "bigint"),
    "float" -> ("float", "float"),
    "double" -> ("double", "double"),
    "string" -> ("string", "string"))

  /** Esper's aggregate functions that accept a condition as last argument, and their names in
    * Spark.
    */
  private val Aggregates: Map[String, String] =
    Seq("avg", "count", "median", "stddev", "sum").map(name => name -> name).toMap ++
      Map("fmin" -> "min", "fmax" -> "max")

  /** Functions that read earlier rows, or a clock other than the window's. */
  private val NotSupported: Set[String] =
    Set("prev", "prevtail", "prevcount", "prevwindow", "prior", "current_timestamp")
}
