package winops.text.esper

import winops.policy._
import winops.terms.{Origin, Span}
import winops.text.dialect.Token
import winops.window.piece._

/** The table of all windows of Esper. */
private[esper] trait WindowTable extends ParameterParsers {

  private lazy val origin: Origin = scope.origin.getOrElse(Origin.FirstRow)

  /** One line for each window: its namespace, its name, and a parser that turns its parameters
    * into a role.
    */
  protected lazy val table: Seq[Line] = Seq(
    // Rows enter one by one and leave in the order of their arrival.
    Line("win", "length", one(size)(n => slides(MoreThan(n), Excess(1)))),
    Line("std", "lastevent", none(slides(MoreThan(1), Excess(1)))),
    Line("win", "keepall", none(slides(Unbounded, Never))),
    Line("win", "time", one(periodOrZero)(p => slides(AgeReached(p), WhenDue))),
    Line("win", "time_accum", one(periodOrZero)(p => slides(Everything, Quiet(p)))),
    Line(
      "win",
      "ext_timed",
      two(timestamp(), next(periodOrZero))((ts, p) => slides(TimestampBehind(ts, p), EachRow))),
    Line("win", "expr", one(condition)(e => slides(Fails(e), EachRow))),
    // The first rows enter and stay.
    Line("win", "firstlength", one(size)(n => admits(FirstRows(n)))),
    Line("std", "firstevent", none(admits(FirstRows(1)))),
    Line("win", "firsttime", one(periodOrZero)(p => admits(FirstFor(p, origin)).counting)),
    Line("std", "firstunique", one(keys)(k => admits(FirstOfEach(k)))),
    // Values of rows decide their order, replacement or expiry.
    Line("std", "unique", one(keys)(k => orders(Replacing(k), Unbounded, EachRow))),
    Line(
      "ext",
      "sort",
      two(size, next(sortKeys))((n, by) => orders(Sorted(by), MoreThan(n), Excess(1)))),
    Line(
      "ext",
      "rank",
      three(keysBeforeSize, next(literalSize), next(sortKeys))((k, n, by) =>
        orders(Ranked(k, by), MoreThan(n), Excess(1)))),
    Line(
      "ext",
      "time_order",
      two(timestamp(), next(periodOrZero))((ts, p) => slides(DeadlineReached(ts, p), WhenDue))),
    Line(
      "ext",
      "timetolive",
      one(timestamp(ColumnKind.RealNumber))(ts =>
        slides(DeadlineReached(ts, Span.ofMicros(0)), WhenDue))),
    // The rows of a batch enter together, and leave when the next batch enters.
    Line("win", "length_batch", one(size)(n => batches(EachRows(n)))),
    Line(
      "win",
      "time_batch",
      three(period, optional(noText(reference), None), optional(flow, Flow.Plain)) {
        case (p, Some(millis), flow) =>
          batches(Period(p, Origin.At(millis), flow.isForced))
        case (p, None, flow) => batches(Period(p, origin, flow.isForced)).counting
      }),
    Line(
      "win",
      "ext_timed_batch",
      three(timestamp(), next(period), optional(reference, None))((ts, p, from) =>
        batches(Crosses(ts, p, from)))),
    Line(
      "win",
      "time_length_batch",
      three(period, next(size), optional(flow, Flow.Plain)) { (p, n, flow) =>
        if (flow.isEager) {
          batches(PeriodOrRows(p, n, Some(origin), flow.isForced)).counting
        } else batches(PeriodOrRows(p, n, None, flow.isForced))
      }),
    Line(
      "win",
      "expr_batch",
      two(condition, optional(include, true))((e, withRow) => batches(Holds(e, withRow)))),
    // Groups, and values computed from rows.
    Line("std", "groupwin", one(keys)(Role.Groups(_))),
    Line("std", "merge", one(keys)(Role.Merges(_))),
    Line("std", "size", computesOfRows(Statistic.Size)),
    Line("stat", "uni", computes(Statistic.Uni, 1)),
    Line("stat", "linest", computes(Statistic.Linest, 2)),
    Line("stat", "correl", computes(Statistic.Correl, 2)),
    Line("stat", "weighted_avg", computes(Statistic.WeightedAverage, 2)))

  // Shapes of windows.

  private def slides(bound: Bound, leave: Trigger): Role.Retains =
    orders(Arrival, bound, leave)

  private def orders(order: Order, bound: Bound, leave: Trigger): Role.Retains =
    Role.Retains(Window(EveryRow, order, bound, Triggers(EachRow, leave, Never)))

  private def admits(admit: Admit): Role.Retains =
    Role.Retains(Window(admit, Arrival, Unbounded, Triggers(EachRow, Never, Never)))

  private def batches(trigger: Trigger): Role.Retains =
    Role.Retains(Window(EveryRow, Arrival, PreviousBatch, Triggers(trigger, trigger, Never)))

  // Shapes of parameter lists.

  private def none(role: Role): Parser[Written[Role]] = {
    val empty = symbol(')') | expected(") because the window has no parameters")
    opt(symbol('(') ~> empty) ^^^ Written(role, Nil)
  }

  private def one[A](a: Parser[Written[A]])(role: A => Role): Parser[Written[Role]] =
    list(a ^^ (_.map(role)))

  private def two[A, B](a: Parser[Written[A]], b: Parser[Written[B]])(
      role: (A, B) => Role): Parser[Written[Role]] =
    list(a ~ b ^^ { case x ~ y => Written(role(x.value, y.value), x.text ++ y.text) })

  private def three[A, B, C](a: Parser[Written[A]], b: Parser[Written[B]], c: Parser[Written[C]])(
      role: (A, B, C) => Role): Parser[Written[Role]] =
    list(a ~ b ~ c ^^ { case x ~ y ~ z =>
      Written(role(x.value, y.value, z.value), x.text ++ y.text ++ z.text)
    })

  /** The numbers that a statistic is computed from, and then further columns of the output row.
    */
  private def computes(statistic: Statistic, numbers: Int): Parser[Written[Role]] = {
    val number = numberOf("a number")
    val of = (1 until numbers).foldLeft(number ^^ (Seq(_))) { (read, _) =>
      read ~ next(number) ^^ { case before ~ one => before :+ one }
    }
    list(of ~ rep(symbol(',') ~> beside) ^^ { case of ~ others =>
      val (numbers, fields) = (Written.all(of), Written.all(others))
      Written(Role.Computes(statistic, numbers.value, fields.value), numbers.text ++ fields.text)
    })
  }

  /** The optional parameters of a statistic that reads no columns. */
  private def computesOfRows(statistic: Statistic): Parser[Written[Role]] = {
    val none = Written(Nil, Nil)
    val others = guard(symbol(')')) ^^^ none | separated(beside)
    opt(symbol('(') ~> others <~ last) ^^ (_.getOrElse(none)) ^^ {
      _.map(Role.Computes(statistic, Nil, _))
    }
  }

  private def list[T](parameters: Parser[T]): Parser[T] =
    (symbol('(') | expected("( and parameters")) ~> parameters <~ last

  private def last: Parser[Token] = symbol(')') | expected(") after the last parameter")

  /** A line of the table.
    *
    * @param parameters
    *   reads the parameters and returns the role of the window
    */
  protected case class Line(namespace: String, name: String, parameters: Parser[Written[Role]])
}
