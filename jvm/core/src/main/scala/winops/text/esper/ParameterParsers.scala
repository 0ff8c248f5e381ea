package winops.text.esper

import winops.policy.{Beside, Category, ColumnKind, Named}
import winops.terms.{RowExpression, SortKey}
import winops.text.dialect.{Limits, Names, Problem, Token}

/** Grammar of the parameters of Esper's windows. */
private[esper] trait ParameterParsers extends PeriodParsers with ExpressionParsers {
  import ParameterParsers._

  /** A number of rows: a constant expression whose value is an int. */
  protected def size: Parser[Written[Long]] = {
    val noUnit = guard(unitWord) ~>
      missing(Category.Type, "a number of rows, without a unit of time") | success(())
    constant("a number of rows") <~ noUnit >> { expr =>
      checked(numbers.rows(expr).map(rows => Written(rows, Seq(rows.toString))))
    }
  }

  /** A number of rows as a literal: neither an expression nor a parameter. */
  protected def literalSize: Parser[Written[Long]] = ahead(literalNumber) ~> size |
    missing(Category.Type, "a number of rows, which is written as a number here")

  /** An instant in milliseconds since the epoch. */
  protected def reference: Parser[Written[Option[Long]]] =
    constant("a point in time in milliseconds") >> { expr =>
      checked(numbers.instant(expr).map(millis => Written(Some(millis), Seq(s"${millis}L"))))
    }

  /** One or more key expressions. */
  protected def keys: Parser[Written[Seq[RowExpression]]] = separated(key)

  /** Key expressions before a literal number of rows. */
  protected def keysBeforeSize: Parser[Written[Seq[RowExpression]]] =
    listed(key, "keys", symbol(',') <~ not(literalNumber)) ^^ (Written.all(_))

  /** One or more sort criteria. */
  protected def sortKeys: Parser[Written[Seq[SortKey]]] =
    separated(key ~ opt(keyword("ASC", "DESC")) ^^ { case Written(expression, text) ~ direction =>
      val isDescending = direction.exists(word => Names.upper(word.text) == "DESC")
      Written(
        SortKey(expression, isDescending),
        if (isDescending) text.map(by => s"$by desc") else text)
    })

  /** The timestamp of a row. A column that is known to be neither a number nor a timestamp is
    * `type`.
    *
    * @param refused
    *   further kinds of columns that are `type`
    */
  protected def timestamp(refused: ColumnKind*): Parser[Written[RowExpression]] =
    ofKind("a timestamp", inCondition = false, ColumnKind.Other +: refused)

  /** A condition over the rows of a window. It may read properties of the window. */
  protected def condition: Parser[Written[RowExpression]] =
    ofKind("a condition", inCondition = true, NoConditions)

  /** A numeric expression over a row. */
  protected def numberOf(what: String): Parser[Written[RowExpression]] =
    ofKind(what, inCondition = false, Seq(ColumnKind.Other, ColumnKind.Timestamp))

  /** A further column of a statistic: `*`, a column or an expression. */
  protected def beside: Parser[Written[Beside]] =
    symbol('*') ^^ (star => Written(Beside.AllColumns()(star.offset), Seq("*"))) |
      place ~ phrase("a column, an expression or *", inCondition = false) ^^ {
        case offset ~ phrase =>
          Written(Beside.Of(Named(phrase.name, phrase.expression(offset))), Seq(phrase.text))
      }

  /** The filter of a stream: conditions with commas between them, or nothing. A condition may
    * read only the columns of the row.
    */
  protected def filter: Parser[Option[Written[RowExpression]]] = {
    val one = place ~ phrase("a condition", inCondition = false) >> { case offset ~ condition =>
      checked(refusing("a condition", condition, offset, NoConditions)) ^^^ condition
    }
    place ~ (guard(symbol(')')) ^^^ Nil | listed(one, "conditions")) ^^ {
      case _ ~ Nil => None
      case offset ~ Seq(condition) => Some(written(condition, offset))
      case offset ~ conditions =>
        val items = conditions.tail.flatMap(Seq(Phrase.both("and"), _))
        Some(written(Phrase.operation(Rank.And, conditions.head +: items: _*), offset))
    }
  }

  /** The flag of `expr_batch`: true if the row that ends a batch belongs to the batch. */
  protected def include: Parser[Written[Boolean]] =
    keyword("TRUE") ^^^ Written(true, Nil) |
      keyword("FALSE") ^^^ Written(false, Seq("false")) |
      missing(Category.Type, "true or false")

  /** Esper's flow control keywords, in a text. */
  protected def flow: Parser[Written[Flow]] =
    literal("FORCE_UPDATE or START_EAGER in quotes") >> { token =>
      val keywords = Literals
        .unescaped(text, token)
        .map(_.split(',').map(word => Names.upper(word.trim)).filter(_.nonEmpty).toSet)
      checked(keywords.flatMap { words =>
        Either.cond(
          words.subsetOf(Flow.Keywords),
          Flow.of(words),
          Problem(
            Category.Syntax,
            token.offset,
            s"expected no other keywords than ${Flow.Keywords.mkString(" and ")}"))
      })
    }

  /** A parameter that is not the first one. */
  protected def next[T](parameter: => Parser[T]): Parser[T] =
    symbol(',') ~> parameter | guard(symbol(')')) ~> parameter | expected("a comma")

  /** An optional parameter with its default, `otherwise`. */
  protected def optional[T](parameter: Parser[Written[T]], otherwise: T): Parser[Written[T]] =
    opt(symbol(',') ~> parameter) ^^ (_.getOrElse(Written(otherwise, Nil)))

  /** A parameter that is not a text. */
  protected def noText[T](parameter: Parser[T]): Parser[T] =
    not(accept("a text", { case token: Token.Literal => token })) ~> parameter

  protected def separated[T](parameter: Parser[Written[T]]): Parser[Written[Seq[T]]] =
    listed(parameter, "keys") ^^ (Written.all(_))

  /** One or more items, up to [[Limits.MaxInList]].
    *
    * @param what
    *   noun for the items in messages
    */
  protected def listed[T](
      item: Parser[T],
      what: String,
      separator: => Parser[Any] = symbol(',')): Parser[List[T]] = Parser { in =>
    var read = 0
    val next = Parser { at =>
      read += 1
      if (read <= Limits.MaxInList) item(at)
      else {
        val message = s"expected at most ${Limits.MaxInList} $what"
        checked[T](Left(Problem(Category.Limit, at.first.offset, message)))(at)
      }
    }
    rep1sep(next, separator)(in)
  }

  /** A key expression. A constant is `type`, because it is the same for all rows. */
  private def key: Parser[Written[RowExpression]] =
    place ~ phrase("a column or an expression", inCondition = false) >> { case offset ~ phrase =>
      val constant =
        Problem(Category.Type, offset, "expected a column or an expression, not a constant")
      checked(Either.cond(!phrase.isConstant, written(phrase, offset), constant))
    }

  private def ofKind(
      what: String,
      inCondition: Boolean,
      refused: Seq[ColumnKind]): Parser[Written[RowExpression]] =
    place ~ phrase(what, inCondition) >> { case offset ~ phrase =>
      checked(refusing(what, phrase, offset, refused)) ^^^ written(phrase, offset)
    }

  /** Refuses a column that is known to be of a refused kind (`type`). The kind of other
    * expressions is not known.
    */
  private def refusing(
      what: String,
      phrase: Phrase,
      offset: Int,
      refused: Seq[ColumnKind]): Either[Problem, Unit] = {
    val isRefused = phrase.column.flatMap(scope.kinds.get).exists(refused.contains)
    Either.cond(
      !isRefused,
      (),
      Problem(Category.Type, offset, s"expected $what, which ${phrase.text} is not"))
  }

  private def written(phrase: Phrase, offset: Int): Written[RowExpression] =
    Written(phrase.expression(offset), Seq(phrase.text))

  private def literal(what: String): Parser[Token.Literal] =
    accept("a text", { case token: Token.Literal => token }) | expected(what)

  private def literalNumber: Parser[Any] =
    opt(symbol('-')) ~ number ~ (symbol(',') | symbol(')'))
}

private[esper] object ParameterParsers {

  /** The kinds of columns that are never boolean. */
  private val NoConditions: Seq[ColumnKind] =
    Seq(ColumnKind.WholeNumber, ColumnKind.RealNumber, ColumnKind.Timestamp)
}
