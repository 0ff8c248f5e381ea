package winops.text.spl

import winops.policy.{Category, Scope}
import winops.text.dialect.{ColumnName, ColumnParsers, Columns, Constants, Expr, Intervals, Lexer, Problem, Token, Value}

/** Parses a window clause in one pass. SPL: unknown columns and columns of a wrong type are
  * reported only if the text has no other mistake.
  */
private[spl] final class WindowParser(text: String, scope: Scope) extends ColumnParsers {
  import WindowParser._

  private val constants = new Constants(scope, mixed = true)

  def parse: Either[Problem, WindowClause] = for {
    written <- run(window, lexer.tokens(text))
    _ <- checkedKey(written)
    clause <- lookedUp(written)
  } yield clause

  /** SPL: a keyword is a name wherever the grammar expects a name. */
  override protected def isReserved(word: Token.Word): Boolean = false

  private def window: Parser[Written] = port ~ clause >> { case port ~ clause =>
    key(clause.partitioned) ^^ (Written(port, clause, _))
  }

  private def port: Parser[Option[Token.Named]] = {
    val named = word("window") ~> (name | expected("the name of a port")) <~
      (symbol(':') | expected(": and a window"))
    named ^^ (Some(_)) | opt(name <~ symbol(':'))
  }

  private def clause: Parser[Clause] =
    word("tumbling") ~> comma ~> tumbling |
      word("sliding") ~> comma ~> sliding |
      expected("tumbling or sliding")

  private def tumbling: Parser[Clause] = {
    val punct = word("punct") ~> open ~> (symbol(')') | expected(")")) ^^^ Shape.Punctuated
    val shape = punct | extent ^^ (Shape.Tumbling(_)) | refused("count, time, delta or punct")
    shape >> (partitions(_))
  }

  /** SPL: the eviction and the trigger of a sliding window are anything but punctuations. */
  private def sliding: Parser[Clause] = {
    def slides(eviction: Size): Parser[Clause] = {
      val untriggered = Shape.Sliding(eviction, Extent.EachTuple)
      val more = extent >> (trigger => partitions(Shape.Sliding(eviction, trigger))) |
        partitioned(untriggered) |
        refused("count, time, delta or partitioned")
      symbol(',') ~> more | success(Clause(untriggered, None))
    }
    (extent | refused("count, time or delta")) >> slides
  }

  private def partitions(shape: Shape[WrittenDelta]): Parser[Clause] =
    symbol(',') ~> (partitioned(shape) | refused("partitioned")) | success(Clause(shape, None))

  private def partitioned(shape: Shape[WrittenDelta]): Parser[Clause] = {
    val rule = symbol(',') ~> (eviction | refused("partitionAge, partitionCount or tupleCount"))
    word("partitioned") ~ opt(rule) ^^ { case token ~ eviction =>
      Clause(shape, Some(Partitioned(token, eviction)))
    }
  }

  private def extent: Parser[Size] =
    word("count") ~> argument(count("tuples")) ^^ (Extent.Count(_)) |
      word("time") ~> argument(seconds) ^^ (Extent.Time(_)) |
      word("delta") ~> argument(delta) ^^ (Extent.Attribute(_))

  private def eviction: Parser[PartitionEviction] =
    word("partitionAge") ~> argument(seconds) ^^ (PartitionEviction.Age(_)) |
      word("partitionCount") ~> argument(count("partitions")) ^^
      (PartitionEviction.Partitions(_)) |
      word("tupleCount") ~> argument(count("tuples")) ^^ (PartitionEviction.Tuples(_))

  private def count(things: String): Parser[Long] =
    expr(s"a number of $things") >> (count => checked(constants.count(count, things)))

  private def seconds: Parser[Long] = expr("a number of seconds") >> { seconds =>
    checked(constants.decimal(seconds).flatMap(Intervals.ofSeconds(_, seconds.offset)))
  }

  private def delta: Parser[WrittenDelta] =
    columnName ~ (comma ~> expr("a number")) >> { case attribute ~ size =>
      checked(notNegative(size)) ^^ (WrittenDelta(attribute, _, size.offset))
    }

  /** SPL: a delta may be zero. */
  private def notNegative(size: Expr): Either[Problem, Value] =
    constants.value(size).flatMap { value =>
      Either.cond(
        Value.decimal(value).signum >= 0,
        value,
        Problem(Category.Range, size.offset, "expected a number that is not negative"))
    }

  private def argument[T](value: Parser[T]): Parser[T] =
    open ~> value <~ (symbol(')') | expected("an operator or )"))

  private def open: Parser[Token] = symbol('(') | expected("(")

  private def comma: Parser[Token] = symbol(',') | expected("a comma")

  /** SPL: a word that is not allowed here is `policy`, also if it is a keyword elsewhere. */
  private def refused(wanted: String): Parser[Nothing] = {
    val intervals = guard(word("timeInterval")) ~> missing(
      Category.Policy,
      s"$wanted; timeInterval is not supported")
    intervals | guard(name) ~> missing(Category.Policy, wanted) | expected(wanted)
  }

  /** The attributes of the key, or none without a key, and the end of the clause. */
  private def key(partitioned: Option[Partitioned]): Parser[Seq[ColumnName]] = {
    val unpartitioned =
      if (partitioned.isDefined) failure("a key")
      else {
        guard(word("partitionBy")) ~> missing(
          Category.PartitionKey,
          "no key, or partitioned in the window clause")
      }
    val attributes =
      (unpartitioned | word("partitionBy") | expected("partitionBy")) ~>
        (symbol(':') | expected(": and attributes")) ~>
        rep1sep(columnName, symbol(',')) <~ finish(Seq("a comma"))
    val param = word("param") ~> attributes >> (names => checked(Columns.once(names)))
    opt(symbol(';')) >> { semicolon =>
      val full = partitioned.exists(_.eviction.isDefined)
      val before = Seq("a comma").filterNot(_ => full || semicolon.isDefined) ++ Seq("param")
      val last = if (semicolon.isEmpty) Seq("; or the end") else Seq("or the end")
      param | end ^^^ Seq.empty | expected((before ++ last).mkString(", "))
    }
  }

  private def checkedKey(written: Written): Either[Problem, Unit] =
    written.clause.partitioned match {
      case Some(Partitioned(token, _)) if written.keys.isEmpty && !scope.isGrouped =>
        Left(
          Problem(
            Category.PartitionKey,
            token.offset,
            "expected a key for partitioned, in param partitionBy or beside the text"))
      case _ => Right(())
    }

  private def lookedUp(written: Written): Either[Problem, WindowClause] = {
    val attributes = new Attributes(scope, written.row)
    for {
      shape <- attributes.shape(written.clause.shape)
      keys <- attributes.columns(written.keys)
    } yield WindowClause(shape, keys, written.clause.partitioned.flatMap(_.eviction))
  }
}

private[spl] object WindowParser {
  private type Size = Extent[WrittenDelta]

  private val lexer = new Lexer("()+-*/,;:.", colons = false)

  private final case class Partitioned(token: Token.Word, eviction: Option[PartitionEviction])

  private final case class Clause(shape: Shape[WrittenDelta], partitioned: Option[Partitioned])

  private final case class Written(
      port: Option[Token.Named],
      clause: Clause,
      keys: Seq[ColumnName]) {

    /** The name of the tuples: that of the port, or the name before the first qualified
      * attribute.
      */
    def row: Option[Token.Named] = port.orElse((measured ++ keys).flatMap(_.row).headOption)

    private def measured: Seq[ColumnName] = {
      val extents = clause.shape match {
        case Shape.Tumbling(eviction) => Seq(eviction)
        case Shape.Sliding(eviction, trigger) => Seq(eviction, trigger)
        case Shape.Punctuated => Seq.empty
      }
      extents.collect { case Extent.Attribute(delta) => delta.attribute }
    }
  }
}
