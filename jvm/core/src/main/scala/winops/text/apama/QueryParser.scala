package winops.text.apama

import winops.policy.{Category, Scope}
import winops.text.dialect.{ColumnName, ColumnParsers, Columns, Constants, Intervals, Lexer, Problem, Token, Value}

/** Parses a stream query in one pass. Unknown columns are reported only if the text has no other
  * mistake.
  */
private[apama] final class QueryParser(text: String, scope: Scope) extends ColumnParsers {
  import QueryParser._

  private val constants = new Constants(scope, mixed = false)

  def parse: Either[Problem, Query] = run(query, lexer.tokens(text)).flatMap(lookedUp)

  override protected def isReserved(word: Token.Word): Boolean = Keywords(word.text)

  private def query: Parser[Written] = opt(source) ~ opt(partition) >> { case item ~ keys =>
    val wanted = (item, keys) match {
      case (None, None) => "from, partition by, within or retain"
      case (_, None) => "partition by, within or retain"
      case _ => "a comma, within or retain"
    }
    (within | retain(keys.isDefined) | expected(wanted)) >> { content =>
      rest(content) ^^ { case unique ~ projection =>
        Written(item, keys.getOrElse(Seq.empty), content, unique, projection)
      }
    }
  }

  /** The name of the items. The name of their stream has no effect on the window. */
  private def source: Parser[Token.Named] = {
    val part = name | expected("the name of a stream or of an event type")
    val close = symbol(')') | expected(")")
    word("from") ~> (name | expected("a name for the items")) <~
      (word("in") | expected("in and the name of a stream")) <~
      opt(word("all")) <~ rep1sep(part, symbol('.')) <~ opt(symbol('(') ~> close)
  }

  private def partition: Parser[Seq[ColumnName]] =
    word("partition") ~> (word("by") | expected("by")) ~>
      rep1sep(columnName, symbol(',')) >> (keys => checked(Columns.once(keys)))

  private def within: Parser[Content] =
    word("within") ~> seconds ~ opt(every(seconds)) >> { case duration ~ period =>
      val size = opt(word("retain") ~> (notAll("within") | rows))
      size ^^ (Content.Within(duration, period, _))
    }

  private def retain(partitioned: Boolean): Parser[Content] = {
    val size = rows ~ opt(every(rows)) ^^ { case rows ~ batch => Content.Retain(rows, batch) }
    word("retain") ~> ((if (partitioned) notAll("partition by") else all) | size)
  }

  private def every[T](amount: Parser[T]): Parser[T] = word("every") ~> amount

  /** Apama: an unbounded window has neither batches nor a unique key. */
  private def all: Parser[Content] = {
    val bounded = guard(word("every", "with")) ~> missing(
      Category.Unbounded,
      "select, ; or the end; retain all cannot be combined with every or with unique")
    word("all") ~> (bounded | success(Content.All))
  }

  private def notAll(clause: String): Parser[Nothing] = guard(word("all")) ~> missing(
    Category.Unbounded,
    s"a number of rows; retain all cannot be combined with $clause")

  private def rows: Parser[Long] =
    expr("a number of rows") >> (rows => checked(constants.rows(rows)))

  /** Apama: a number of seconds needs a fraction, else it is `type`. */
  private def seconds: Parser[Long] = expr("a number of seconds") >> { seconds =>
    checked(constants.value(seconds).flatMap {
      case Value.Fraction(value, _) => Intervals.ofSeconds(value, seconds.offset)
      case Value.Whole(value) =>
        val fractional = s"expected seconds with a fraction, as $value.0"
        Left(Problem(Category.Type, seconds.offset, fractional))
    })
  }

  private def rest(content: Content): Parser[Option[ColumnName] ~ Option[Projection]] =
    opt(unique) ~ opt(select(content)) >> { case key ~ projection =>
      val before = (key, projection) match {
        case (None, None) => following(content)
        case (_, None) => Seq("select")
        case _ => Seq.empty
      }
      (unsupported(before) | finish(before)) ^^^ new ~(key, projection)
    }

  private def unique: Parser[ColumnName] =
    word("with") ~> (word("unique") | expected("unique")) ~> columnName

  /** Apama: an unbounded window has no rstream. */
  private def select(content: Content): Parser[Projection] = {
    val never = guard(word("rstream")) ~> missing(
      Category.Unbounded,
      "a projection without rstream; retain all removes nothing")
    val deletes =
      word("rstream") ~> (anything | expected("a projection")) ^^^ Projection.Deletes
    val named = name <~ guard(symbol(';') | end) ^^ (Projection.Name(_))
    word("select") ~> ((if (content == Content.All) never else deletes) | named |
      anything ^^^ Projection.Other | expected("a projection"))
  }

  private def anything: Parser[Seq[Token]] = rep1(
    accept(
      "a projection",
      {
        case token @ (_: Token.Plain | _: Token.Quoted | _: Token.Literal) => token
        case token @ Token.Symbol(char, _) if char != ';' => token
      }))

  private def unsupported(before: Seq[String]): Parser[Nothing] = {
    val clauses = UnsupportedClauses.mkString(", ")
    guard(word(UnsupportedClauses: _*)) ~> missing(
      Category.Unsupported,
      s"${(before ++ Seq("; or the end")).mkString(", ")}; not supported are $clauses")
  }

  private def lookedUp(written: Written): Either[Problem, Query] = {
    val columns = new Columns(scope, written.row)
    for {
      keys <- columns.columns(written.partition)
      unique <- columns.columns(written.unique.toSeq)
    } yield Query(keys, written.content, unique.headOption, shown(written))
  }

  /** Apama: a projection to the item itself emits only inserts. Any other projection without
    * rstream is evaluated at each change and emits all changes. If the query does not name its
    * items, any name other than a column's is the item.
    */
  private def shown(written: Written): Shown = written.projection match {
    case Some(Projection.Deletes) => Shown.Deletes
    case Some(Projection.Name(token)) =>
      val isItem = written.row match {
        case Some(row) => row.name == token.name
        case None => !scope.columns.contains(token.name)
      }
      if (isItem) Shown.Inserts else Shown.Changes
    case Some(Projection.Other) | None => Shown.Changes
  }
}

private[apama] object QueryParser {
  val Keywords: Set[String] = Set(
    "from",
    "in",
    "all",
    "partition",
    "by",
    "within",
    "every",
    "retain",
    "with",
    "unique",
    "select",
    "rstream")

  /** Clauses that Apama allows between a window and its projection, and that are not supported.
    */
  private val UnsupportedClauses = Seq("from", "join", "where", "group", "having")

  // Projections contain more symbols than windows.
  private val lexer = new Lexer("()[]{}+-*/%<>=!,;:.", colons = false)

  private def following(content: Content): Seq[String] = content match {
    case Content.All => Seq("select")
    case Content.Retain(_, None) => Seq("every", "with unique", "select")
    case Content.Within(_, None, None) => Seq("every", "retain", "with unique", "select")
    case Content.Within(_, Some(_), None) => Seq("retain", "with unique", "select")
    case _ => Seq("with unique", "select")
  }

  private sealed trait Projection

  private object Projection {
    final case class Name(token: Token.Named) extends Projection
    case object Deletes extends Projection
    case object Other extends Projection
  }

  private final case class Written(
      item: Option[Token.Named],
      partition: Seq[ColumnName],
      content: Content,
      unique: Option[ColumnName],
      projection: Option[Projection]) {

    /** The name of the items: that of `from`, or the name before the first qualified key. */
    def row: Option[Token.Named] = item.orElse((partition ++ unique).flatMap(_.row).headOption)
  }
}
