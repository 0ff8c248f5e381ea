package winops.text.ccl

import winops.policy.{Category, Parameter, Scope}
import winops.terms.RowExpression
import winops.text.dialect.{ColumnName, Columns, Expr, Names, Parameters, Problem, Token}

/** Parses a KEEP clause in one pass. Each token is checked as soon as it is read. */
private[ccl] final class KeepParser(
    override protected val text: String,
    override protected val scope: Scope)
    extends IntervalParsers {
  import IntervalParsers._

  def parse: Either[Problem, KeepClause] = run(clause, lexer.tokens(text))

  /** CCL: an empty text means KEEP ALL. */
  private def clause: Parser[KeepClause] =
    end ^^^ KeepClause.All |
      (keyword("KEEP") | expected("KEEP")) ~> (all | policy)

  /** CCL: KEEP ALL has neither EVERY nor SLACK nor PER. */
  private def all: Parser[KeepClause] =
    keyword("ALL") ~> opt(keyword("ROW", "ROWS")) ~> (groupOfAll | finish(Seq.empty)) ^^^
      KeepClause.All

  private def groupOfAll: Parser[Nothing] = guard(keyword("PER")) ~> missing(
    Category.Syntax,
    "the end, because KEEP ALL has no PER. Give the group beside the text, with per= in Python or " +
      "PARTITION BY in SQL")

  private def policy: Parser[KeepClause] = opt(keyword("EVERY")) >> { every =>
    val what =
      if (every.isEmpty) "ALL, EVERY, a number of rows or an interval"
      else "a number of rows or an interval"
    interval >> byTime(every.isDefined) | expr(what) >> byExpr(every.isDefined, what)
  }

  /** An interval whose first token begins no other policy: INTERVAL, quotes or colons. */
  private def interval: Parser[Long] =
    keyword("INTERVAL") ~> (inQuotes | expected("an interval in quotes")) | inQuotes | colons

  private def byExpr(every: Boolean, what: String)(first: Expr): Parser[KeepClause] =
    first match {
      case Expr.Name(token) =>
        scope.parameters.get(token.name) match {
          case Some(Parameter.Text(value)) => byParameter(every, token, value)
          // Reports a missing parameter as such, and not as a number without a unit.
          case None =>
            superfluous(token, what) |
              checked(constants.value(first)) >> (_ => byRowsOrUnit(every, first))
          case _ => byRowsOrUnit(every, first)
        }
      case _ => byRowsOrUnit(every, first)
    }

  /** Refuses a word before a number or another word, as in `KEEP LAST 5 ROWS`. A keyword counts
    * as a word, unless it can follow a number: a number is missing in `KEEP M ROWS`, and a unit
    * in `KEEP M PER (symbol)`.
    */
  private def superfluous(token: Token.Named, what: String): Parser[Nothing] = {
    val word = name | not(unitOfNumber | keyword("SLACK", "PER")) ~> anyWord
    guard(number ^^^ (()) | word ^^^ (())) ~> checked(
      Left(Problem(
        Category.Syntax,
        token.offset,
        s"expected $what, not ${Names.shown(token.name)}. KEEP 5 ROWS keeps the newest 5 rows")))
  }

  /** CCL: a parameter with a text is a whole interval. Before ROWS or a unit, a parameter must be
    * a number.
    */
  private def byParameter(
      every: Boolean,
      token: Token.Named,
      value: String): Parser[KeepClause] = {
    val (python, sql) = Parameters.arguments(token.name)
    // The category depends on the text alone, as for a parameter without ROWS or a unit behind
    // it.
    val number = Problem(
      intervalOf(value).fold(_.category, _ => Category.Type),
      token.offset,
      s"expected a number; the parameter ${Names.shown(token.name)} is a text, which can only be " +
        s"an interval. Give a number: $python in Python, $sql in SQL")
    guard(unitOfNumber) ~> checked(Left(number)) |
      inParameter(token, value) >> byTime(every)
  }

  /** A keyword that says what a number counts. */
  private def unitOfNumber: Parser[Any] = keyword("ROW", "ROWS") | unitWord

  private def anyWord: Parser[Token.Named] = accept("a word", { case word: Token.Word => word })

  private def byRowsOrUnit(every: Boolean, first: Expr): Parser[KeepClause] =
    keyword("ROW", "ROWS") ~> checked(constants.rows(first)) >> byRows(every) |
      unit("ROWS or a unit of time") >> (rest(first, _)) >> byTime(every)

  /** CCL: SLACK is 1 by default, and is not allowed with EVERY. */
  private def byRows(every: Boolean)(rows: Long): Parser[KeepClause] =
    if (every) {
      refusedSlack(Category.SlackWithEvery, "no SLACK, which cannot be combined with EVERY") |
        per(Seq("PER (columns)")) ^^ (KeepClause.EveryRows(rows, _))
    } else {
      opt(slack) >> { rowsOver =>
        per("PER (columns)" +: Seq("SLACK").filter(_ => rowsOver.isEmpty)) ^^ { columns =>
          KeepClause.Rows(rows, rowsOver.getOrElse(1L), columns)
        }
      }
    }

  /** CCL: SLACK is not allowed with an interval, with or without EVERY. */
  private def byTime(every: Boolean)(micros: Long): Parser[KeepClause] =
    refusedSlack(Category.SlackWithTime, "no SLACK, which cannot be combined with an interval") |
      per(Seq("PER (columns)")) ^^ { columns =>
        if (every) KeepClause.EveryInterval(micros, columns)
        else KeepClause.Interval(micros, columns)
      }

  private def slack: Parser[Long] =
    keyword("SLACK") ~> expr("a number of rows") >> (rows => checked(constants.rows(rows)))

  private def refusedSlack(category: Category, what: String): Parser[Nothing] =
    guard(keyword("SLACK")) ~> missing(category, what)

  /** The columns of PER, or none without PER, and the end of the clause.
    *
    * @param before
    *   clauses that could have preceded the end, for the message
    */
  private def per(before: Seq[String]): Parser[Seq[RowExpression.Column]] =
    opt(keyword("PER") ~> columns) >> { named =>
      finish(if (named.isEmpty) before else Seq.empty) ^^^ named.getOrElse(Seq.empty)
    }

  private def columns: Parser[Seq[RowExpression.Column]] = {
    // In the list of PER no word is a keyword.
    val column =
      accept("a column", { case token: Token.Named => ColumnName(None, token) }) |
        expected("the name of a column")
    (symbol('(') | expected("( and the names of columns")) ~>
      rep1sep(column, symbol(',')) <~
      (symbol(')') | expected("a comma or )")) >> (names => checked(distinct(names)))
  }

  /** CCL: each column of PER is a column of the rows and occurs once. */
  private def distinct(names: Seq[ColumnName]): Either[Problem, Seq[RowExpression.Column]] =
    Columns.once(names).flatMap(new Columns(scope).columns)
}
