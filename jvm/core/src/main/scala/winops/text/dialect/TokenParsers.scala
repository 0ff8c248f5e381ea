package winops.text.dialect

import scala.util.parsing.combinator.Parsers
import scala.util.parsing.input.{Position, Reader}
import winops.policy.Category

/** Parsers of tokens whose failures are [[Problem]]s.
  *
  * A grammar of this kind decides by the next token alone and does not backtrack. Each choice
  * ends in `expected`, so the place of a problem is the first token that fits no alternative.
  */
trait TokenParsers extends Parsers {
  override type Elem = Token

  /** Applies a grammar to all of its tokens. */
  protected def run[T](parser: Parser[T], tokens: IndexedSeq[Token]): Either[Problem, T] =
    parser(new TokenReader(tokens, 0)) match {
      case Success(result, _) => Right(result)
      case Error(_, refusal: Refusal) => Left(refusal.problem)
      case failure: NoSuccess =>
        Left(Problem(Category.Syntax, failure.next.first.offset, failure.msg))
    }

  /** Ends a choice: fails with the message that `what` was expected. */
  protected def expected(what: String): Parser[Nothing] = missing(Category.Syntax, what)

  /** Fails like `expected`, but with another category. An invalid token is `syntax` with its own
    * message in any case.
    */
  protected def missing(category: Category, what: String): Parser[Nothing] = Parser { in =>
    in.first match {
      case Token.Bad(message, offset, _) => refusal(in, Problem(Category.Syntax, offset, message))
      case token => refusal(in, Problem(category, token.offset, s"expected $what"))
    }
  }

  /** Succeeds with the result of a check on tokens that have been read, or fails with its
    * problem.
    */
  protected def checked[T](result: Either[Problem, T]): Parser[T] =
    result.fold(problem => Parser(in => refusal(in, problem)), success(_))

  /** One of the keywords, in any case.
    *
    * @param keywords
    *   keywords in upper case
    */
  protected def keyword(keywords: String*): Parser[Token.Word] =
    accept(
      keywords.mkString(" or "),
      { case word: Token.Word if keywords.contains(Names.upper(word.text)) => word })

  /** One of the words, in exactly this spelling. */
  protected def word(words: String*): Parser[Token.Word] =
    accept(words.mkString(" or "), { case word: Token.Word if words.contains(word.text) => word })

  protected def symbol(char: Char): Parser[Token] =
    accept(char.toString, { case token @ Token.Symbol(`char`, _) => token })

  /** Succeeds without reading tokens if `parser` would succeed, else fails at the current token.
    * A failure of `parser` at a later token would hide the alternatives that are `expected` here.
    */
  protected def ahead(parser: Parser[Any]): Parser[Any] = not(not(parser))

  /** The end of the tokens. */
  protected def end: Parser[Token] = accept("the end", { case token: Token.End => token })

  /** An optional semicolon, and then the end.
    *
    * @param before
    *   clauses that could have preceded the end, for the message
    */
  protected def finish(before: Seq[String]): Parser[Token] = {
    val semicolon = symbol(';') ~> (end | expected("nothing after ;"))
    end | semicolon | expected((before ++ Seq("; or the end")).mkString(", "))
  }

  private def refusal(in: Input, problem: Problem): Error =
    Error(problem.message, new Refusal(in, problem))
}

/** The place at which a parser failed, with its problem. Only errors carry it, and no parser
  * continues after an error.
  */
private final class Refusal(in: Reader[Token], val problem: Problem) extends Reader[Token] {
  override def first: Token = in.first
  override def rest: Reader[Token] = in.rest
  override def pos: Position = in.pos
  override def atEnd: Boolean = in.atEnd
}

private final class TokenReader(tokens: IndexedSeq[Token], index: Int) extends Reader[Token] {
  // After the last token, messages still need its place.
  override def first: Token = tokens(math.min(index, tokens.length - 1))
  override def rest: TokenReader = if (atEnd) this else new TokenReader(tokens, index + 1)
  override def atEnd: Boolean = index == tokens.length
  override def pos: Position = TokenPosition(first.offset)
}

/** A place in the form that the combinators need. They only compare places. */
private final case class TokenPosition(offset: Int) extends Position {
  override def line: Int = 1
  override def column: Int = offset + 1
  override protected def lineContents: String = ""
}
