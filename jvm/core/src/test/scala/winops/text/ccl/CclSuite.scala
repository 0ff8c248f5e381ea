package winops.text.ccl

import winops.policy._
import winops.terms.{Origin, Span, Stream}
import winops.testing.TableTests
import winops.window.piece._

class CclSuite extends TableTests {
  private val scope = Scope(
    parameters = Map(
      "N" -> Parameter.Whole(4),
      "n" -> Parameter.Whole(7),
      "F" -> Parameter.Fraction(BigDecimal("1.5")),
      "W" -> Parameter.Text("5 SECONDS"),
      "C" -> Parameter.Text(" 3 days 02:30"),
      "hours" -> Parameter.Whole(3),
      "my rows" -> Parameter.Whole(9)),
    columns = Seq("symbol", "Symbol", "venue", "trade id", "a`b", "say \"so\"", "per", ""))

  private def policy(text: String, scope: Scope = scope): Policy =
    Ccl.parse(text, scope).fold(e => fail(s"${e.message}\n${e.caret}"), identity)

  private def window(text: String): Window = policy(text).retention.windows.head

  private def canonical(text: String): String = policy(text).text

  private def pieces(bound: Bound, leave: Trigger, per: String*)(text: String): Policy = Policy(
    Group.by(per),
    Retention.One(Window(EveryRow, Arrival, bound, Triggers(EachRow, leave, Never))),
    Stream.InsertsThenDeletes,
    text,
    window = text.replaceFirst(" PER \\(.*\\)", ""))

  private val second = 1000000L

  test("the dialect is called ccl") {
    assert(Ccl.name == "ccl")
  }

  testEach("CCL-2 and CCL-21: no clause and KEEP ALL keep everything")(
    "",
    " \n\t",
    "KEEP ALL",
    "keep all row;",
    "Keep All Rows") { text =>
    val everything = pieces(Unbounded, Never)("KEEP ALL")
    assert(policy(text) == everything)
    assert(!everything.usesTime)
  }

  test("CCL-8: KEEP n ROWS") {
    assert(policy("KEEP 100 ROWS") == pieces(MoreThan(100), Excess(1))("KEEP 100 ROWS"))
    assert(policy("KEEP 1 ROWS") == pieces(MoreThan(1), Excess(1))("KEEP 1 ROW"))
  }

  test("CCL-9: SLACK, which is 1 when it is not given") {
    assert(
      policy("KEEP 100 ROWS SLACK 10 PER(symbol)") ==
        pieces(MoreThan(100), Excess(10), "symbol")("KEEP 100 ROWS SLACK 10 PER (symbol)"))
    assert(policy("KEEP 3 ROWS SLACK 1") == policy("KEEP 3 ROWS"))
    assert(window("KEEP 2 ROWS SLACK 2 + 3").triggers.leave == Excess(5))
  }

  test("CCL-11 and CCL-20: PER names columns in the order given, also in quotes") {
    assert(policy("KEEP 1 ROW PER (venue, symbol)").group == Group.by(Seq("venue", "symbol")))
    assert(policy("KEEP 1 ROW PER(symbol,Symbol)").group == Group.by(Seq("symbol", "Symbol")))
    assert(
      policy("KEEP 1 ROW PER (`trade id`, \"a`b\", \"say \"\"so\"\"\", per, ``)").group ==
        Group.by(Seq("trade id", "a`b", "say \"so\"", "per", "")))
    assert(
      canonical("KEEP 1 ROW PER (\"trade id\", `a``b`, \"symbol\", per)") ==
        "KEEP 1 ROW PER (`trade id`, `a``b`, symbol, per)")
  }

  test("CCL-12: KEEP EVERY n ROWS leaves the row that would be one too many") {
    assert(
      policy("KEEP EVERY 10 ROWS PER (symbol)") ==
        pieces(MoreThan(1), Excess(10), "symbol")("KEEP EVERY 10 ROWS PER (symbol)"))
  }

  test("CCL-14 and CCL-15: KEEP interval, groups kept") {
    assert(
      policy("KEEP 10 MINS") ==
        pieces(AgeReached(Span.ofMicros(600 * second)), WhenDue)("KEEP 10 MINUTES"))
    assert(policy("KEEP 10 MINS PER(symbol)").group == Group.by(Seq("symbol")))
    assert(policy("KEEP 10 MINS").usesTime)
  }

  test("CCL-17: KEEP EVERY interval counts from the scope's origin, and says so") {
    def every(origin: Origin) =
      policy("KEEP EVERY 100 SECONDS", scope.copy(origin = Some(origin)))
    def pieced(origin: Origin) =
      pieces(Everything, Period(Span.ofMicros(100 * second), origin)) _
    val text = "KEEP EVERY 1 MINUTE 40 SECONDS"
    assert(every(Origin.epoch) == pieced(Origin.epoch)(text))
    assert(every(Origin.At(3000)) == pieced(Origin.At(3000))(s"$text ORIGIN 3000 MILLISECONDS"))
    assert(every(Origin.FirstRow) == pieced(Origin.FirstRow)(s"$text ORIGIN FIRST ROW"))
    assert(
      policy("KEEP EVERY 5 SEC PER(symbol)", scope.copy(origin = Some(Origin.FirstRow))).text ==
        "KEEP EVERY 5 SECONDS PER (symbol) ORIGIN FIRST ROW")
  }

  testEach("the origin is part of periodic policies alone")(
    "",
    "KEEP 3 ROWS",
    "KEEP EVERY 3 ROWS",
    "KEEP 3 SECONDS") { text =>
    assert(policy(text, scope.copy(origin = Some(Origin.FirstRow))) == policy(text))
  }

  test("CCL-3: case, blanks and one semicolon do not matter") {
    assert(canonical("KEEP 2 HRS,3 mins") == "KEEP 2 HOURS 3 MINUTES")
  }

  testEach("CCL-3: case, blanks and one semicolon do not matter")(
    "  KEEP\n\t2\n ROWS ;",
    "keep 2rows",
    "Keep\u00a02\u2003Row;",
    "KEEP 2 ROWS\r\n")(text => assert(canonical(text) == "KEEP 2 ROWS"))

  test("CCL-3: names of parameters are case-sensitive") {
    assert(canonical("KEEP N ROWS") == "KEEP 4 ROWS")
    assert(canonical("KEEP n ROWS") == "KEEP 7 ROWS")
  }

  test("a parameter may be in quotes, or be called like a unit") {
    assert(canonical("KEEP \"my rows\" ROWS SLACK `N`") == "KEEP 9 ROWS SLACK 4")
    assert(canonical("KEEP hours HOURS") == "KEEP 3 HOURS")
    assert(canonical("KEEP 2 * hours ROWS") == "KEEP 6 ROWS")
  }

  testEach("CCL-4: counts are constant expressions")(
    "1 + 2 * (3 - 2)" -> 3,
    "10 - 3 - 2" -> 5,
    "24 / 4 / 2" -> 3,
    "7/2" -> 3,
    "-7/2 + 4" -> 1,
    "-(-3)" -> 3,
    "3 - -2" -> 5,
    "3--2" -> 5,
    "N*N-1" -> 15,
    "007" -> 7,
    "1 + (2 - 3) * 2 + 5" -> 4) { case (count, rows) =>
    assert(window(s"KEEP $count ROWS").bound == MoreThan(rows.toLong))
  }

  testEach("CCL-5: intervals by units, in any order, with blanks or commas")(
    "1 MINUTE, 2 SECONDS, 12 MILLISECONDS" -> "1 MINUTE 2 SECONDS 12 MILLISECONDS",
    "500 MILLIS 1 SEC" -> "1 SECOND 500 MILLISECONDS",
    "1 day 1 hour 1 minute 1 second 1 millisecond 1 microsecond" ->
      "1 DAY 1 HOUR 1 MINUTE 1 SECOND 1 MILLISECOND 1 MICROSECOND",
    "2.5 SECONDS" -> "2 SECONDS 500 MILLISECONDS",
    "1.5e3 SECONDS" -> "25 MINUTES",
    "0 MINUTES 1 SECOND" -> "1 SECOND",
    "0.5 MICROS 0.0000005 SECONDS" -> "1 MICROSECOND",
    "3000 MICROSECONDS" -> "3 MILLISECONDS",
    "N SECONDS" -> "4 SECONDS",
    "F MINUTES" -> "1 MINUTE 30 SECONDS",
    "2 * F * N HOURS" -> "12 HOURS",
    "1.0 / 4 SECOND" -> "250 MILLISECONDS",
    "(N + 1) * 2 SECONDS" -> "10 SECONDS",
    "1e2 SECONDS" -> "1 MINUTE 40 SECONDS",
    "100000 DAYS" -> "100000 DAYS") { case (interval, expected) =>
    assert(canonical(s"KEEP $interval") == s"KEEP $expected")
  }

  Seq(
    "DAY" -> "DAY DAYS",
    "HOUR" -> "HOUR HOURS HR HRS",
    "MINUTE" -> "MIN MINS MINUTE MINUTES",
    "SECOND" -> "SEC SECS SECOND SECONDS",
    "MILLISECOND" -> "MILLISECOND MILLISECONDS MILLIS",
    "MICROSECOND" -> "MICROSECOND MICROSECONDS MICROS").foreach { case (unit, spellings) =>
    testEach(s"CCL-1: all spellings of $unit")(spellings.split(' ').toSeq: _*) { spelling =>
      assert(canonical(s"KEEP 1 $spelling") == s"KEEP 1 $unit")
    }
  }

  testEach("CCL-6: hours, minutes and seconds between colons, days before them in quotes")(
    "00:10:00" -> "10 MINUTES",
    "'00:10:00'" -> "10 MINUTES",
    "02:30" -> "2 HOURS 30 MINUTES",
    "0:00:05" -> "5 SECONDS",
    "100:00" -> "4 DAYS 4 HOURS",
    "0:00:00.000001" -> "1 MICROSECOND",
    "INTERVAL '3 days 02:30'" -> "3 DAYS 2 HOURS 30 MINUTES",
    "interval'1.5 DAY 0:00'" -> "1 DAY 12 HOURS",
    "' 3 DAYS 1 HOUR '" -> "3 DAYS 1 HOUR",
    "INTERVAL '2 * 5 SECONDS, 1 MINUTE'" -> "1 MINUTE 10 SECONDS") { case (interval, expected) =>
    assert(canonical(s"KEEP $interval") == s"KEEP $expected")
    assert(canonical(s"KEEP EVERY $interval;") == s"KEEP EVERY $expected")
  }

  test("CCL-5: a parameter alone holds an interval") {
    assert(canonical("KEEP W") == "KEEP 5 SECONDS")
    assert(canonical("KEEP `W`") == "KEEP 5 SECONDS")
    assert(
      canonical("KEEP EVERY C PER (symbol);") ==
        "KEEP EVERY 3 DAYS 2 HOURS 30 MINUTES PER (symbol)")
  }

  test("the greatest policies") {
    assert(
      window("KEEP 1000000000000 ROWS SLACK 1000000000000").bound ==
        MoreThan(1000000000000L))
    val longest = window("KEEP EVERY 100000 DAYS").triggers.leave
    assert(longest == Period(Span.ofMicros(8640000000000000L), Origin.epoch))
  }

  test("a text as long and as deep as is allowed") {
    assert(policy("KEEP 2 ROWS" + " " * 9989) == policy("KEEP 2 ROWS"))
    assert(canonical(s"KEEP ${"(" * 32}2${")" * 32} ROWS") == "KEEP 2 ROWS")
    assert(canonical(s"KEEP ${"-" * 32}2 ROWS") == "KEEP 2 ROWS")
    assert(canonical(s"KEEP 1${"+1" * 4900} ROWS") == "KEEP 4901 ROWS")
    assert(canonical(s"KEEP 1${"+(1)" * 2400} ROWS") == "KEEP 2401 ROWS")
    assert(canonical(s"KEEP ${"0" * 9000}7 ROWS") == "KEEP 7 ROWS")
  }
}
