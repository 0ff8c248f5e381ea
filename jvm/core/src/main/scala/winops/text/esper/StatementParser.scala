package winops.text.esper

import winops.policy.{Category, Scope}
import winops.terms.{RowExpression, Stream}
import winops.text.dialect.{Names, Problem, Token}

/** Parses a chain of windows, or a statement that selects from a chain. */
private[esper] final class StatementParser(
    override protected val text: String,
    override protected val scope: Scope)
    extends SelectParsers
    with HintParsers {
  import StatementParser._

  private val tokens = EsperLexer.tokens(text)

  /** The names of the stream. They are collected before the statement is parsed, because the list
    * and the windows use them, and AS may follow the windows. In the select list AS names
    * columns.
    */
  private val prefixes: Set[String] = {
    val depths = tokens.scanLeft(0) {
      case (depth, Token.Symbol('(', _)) => depth + 1
      case (depth, Token.Symbol(')', _)) => depth - 1
      case (depth, _) => depth
    }
    val (list, rest) = tokens
      .lazyZip(tokens.drop(1))
      .lazyZip(depths)
      .collect { case (Token.Word(word, _), name: Token.Named, 0) =>
        Names.upper(word) -> name.name
      }
      .span { case (word, _) => word != From }
    val behind = if (rest.isEmpty) list else rest
    behind.collect { case (From | "AS", name) => name }.toSet
  }

  override protected val properties: Properties = new Properties(scope, prefixes)

  override protected def isPrefix(name: String): Boolean = prefixes(name)

  def parse: Either[Problem, Statement] = run(statement, tokens)

  private def statement: Parser[Statement] = for {
    reclaim <- annotations
    selection <- unsupported("select or a window", Statements) | opt(select)
    views <- chain(isFirstMarked = selection.isDefined)
    _ <- opt(alias)
    isUnion <- retained
    Selected(stream, items, filter) = selection.getOrElse(Selected.all)
    by <- if (items.isDefined) grouping else success(Written(Nil, Nil))
    _ <- ending(if (by.value.isEmpty) Unended else Seq("a comma"))
  } yield {
    val list = items.map { columns =>
      SelectList(Written.all(columns.map(_.column)), by, columns.head.offset)
    }
    Statement(reclaim, stream, filter, views, isUnion, list)
  }

  /** The part of a statement before its windows. */
  private def select: Parser[Selected] =
    keyword("SELECT") ~> selector ~ (selected <~ from) ~ source ^^ {
      case stream ~ items ~ filter => Selected(stream, items, filter)
    }

  private def from: Parser[Any] = keyword(From) | expected("from")

  /** The stream, its filter and its name. */
  private def source: Parser[Option[Written[RowExpression]]] = {
    val part = accept("a stream", { case token: Token.Named => token })
    val pattern = guard(keyword("PATTERN") ~ (symbol('[') | symbol('@'))) ~>
      missing(Category.Unsupported, "a stream; patterns are not supported")
    val stream = (part | expected("a stream")) ~ rep(symbol('.') ~ part <~ not(symbol(':')))
    val filtered = symbol('(') ~> filter <~ (symbol(')') | expected("an operator, a comma or )"))
    (pattern | stream ~> opt(filtered) <~ opt(alias)) ^^ (_.flatten)
  }

  private def alias: Parser[Any] = keyword("AS") ~>
    (accept("a name", { case token: Token.Named => token }) | expected("a name"))

  /** A chain of windows, all preceded by # or all by a dot. The first window of a chain without a
    * select clause needs neither; if it has a namespace, # or dots may follow.
    */
  private def chain(isFirstMarked: Boolean): Parser[Seq[View]] = {
    val hash = symbol('#') ~> view
    val dot = symbol('.') ~> viewInNamespace
    val hashes = rep(hash) <~
      opt(guard(symbol('.')) ~> expected("# before a window behind one with #"))
    val dots = rep(dot) <~
      opt(guard(symbol('#')) ~> expected("a dot before a window behind one with a dot"))
    val either = guard(symbol('.')) ~> dots | hashes
    val marked = hash ~ hashes | dot ~ dots
    val first =
      if (isFirstMarked) marked | expected("# and a window")
      else marked | ahead(namespace) ~> view ~ either | view ~ hashes
    first ^^ { case view ~ views => view +: views }
  }

  /** Returns true for retain-union: rows stay until the last window evicts them. */
  private def retained: Parser[Boolean] = {
    val way = keyword("UNION") ^^^ true | keyword("INTERSECTION") ^^^ false
    opt(
      keyword("RETAIN") ~> (symbol('-') | expected("-union or -intersection")) ~>
        (way | expected("union or intersection"))) ^^ (_.getOrElse(false))
  }

  /** The end of a statement.
    *
    * @param before
    *   clauses that could have preceded the end, for the message
    */
  private def ending(before: Seq[String]): Parser[Any] = {
    val join = guard(symbol(',')) ~>
      missing(Category.Unsupported, "one stream; joins are not supported")
    join | unsupported("the end", Clauses) | finish(before)
  }

  /** Fails with `unsupported` and the reason if the next word is one of `words`. */
  private def unsupported(instead: String, words: Map[String, String]): Parser[Nothing] = {
    val word = accept(
      "a word",
      Function.unlift[Token, String] {
        case token: Token.Word => words.get(Names.upper(token.text))
        case _ => None
      })
    guard(word) >> (why => missing(Category.Unsupported, s"$instead; $why"))
  }
}

private[esper] object StatementParser {

  /** The select clause of a statement: changes, columns and filter. */
  private final case class Selected(
      stream: Stream,
      items: Option[Seq[SelectParsers.Item]],
      filter: Option[Written[RowExpression]])

  private object Selected {
    val all: Selected = Selected(Stream.InsertsThenDeletes, None, None)
  }

  private val From = "FROM"

  /** The clauses that can follow a window. */
  private val Unended = Seq("# and a window", "retain-union", "retain-intersection")

  private val Statements: Map[String, String] = Map(
    "CONTEXT" -> "contexts are not supported",
    "CREATE" -> "create is not supported",
    "EXPRESSION" -> "declared expressions are not supported",
    "INSERT" -> "insert into is not supported",
    "ON" -> "on is not supported",
    "UPDATE" -> "update is not supported")

  private val Clauses: Map[String, String] = Map(
    "GROUP" -> "group by goes with a select list of aggregates",
    "HAVING" -> "having is not supported",
    "LIMIT" -> "limit is not supported",
    "MATCH_RECOGNIZE" -> "match_recognize is not supported",
    "ORDER" -> "order by is not supported",
    "OUTPUT" -> "output rate limiting is not supported",
    "WHERE" -> "where is not supported") ++
    Seq("FULL", "INNER", "JOIN", "LEFT", "OUTER", "RIGHT", "UNIDIRECTIONAL")
      .map(_ -> "joins are not supported")
}
