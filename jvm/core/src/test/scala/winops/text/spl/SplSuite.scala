package winops.text.spl

import winops.policy._
import winops.terms.{Distance, Origin, RowExpression, Span, StepOrder, Stream}
import winops.testing.TableTests
import winops.window.piece._

class SplSuite extends TableTests {
  private val scope = Scope(
    parameters = Map(
      "N" -> Parameter.Whole(4),
      "F" -> Parameter.Fraction(BigDecimal("1.5")),
      "my rows" -> Parameter.Whole(9)),
    columns = Seq("symbol", "venue", "n", "price", "when", "trade id", "count", "partitioned"),
    kinds = Map(
      "symbol" -> ColumnKind.Other,
      "n" -> ColumnKind.WholeNumber,
      "price" -> ColumnKind.RealNumber,
      "when" -> ColumnKind.Timestamp,
      "count" -> ColumnKind.WholeNumber))

  private val grouped = scope.copy(isGrouped = true)

  private def policy(text: String, scope: Scope = scope): Policy =
    Spl.parse(text, scope).fold(e => fail(s"${e.message}\n${e.caret}"), identity)

  private def window(text: String): Window = policy(text).retention.windows.head

  private def canonical(text: String): String = policy(text).text

  private def pieces(bound: Bound, leave: Trigger, report: Trigger)(text: String): Policy =
    Policy(
      Group.whole,
      Retention.One(Window(EveryRow, Arrival, bound, Triggers(EachRow, leave, report))),
      Stream(inserts = true, deletes = true, StepOrder.Events),
      text,
      window = text)

  private def tumbling(leave: Trigger) = pieces(Everything, leave, Never) _
  private def column(name: String) = RowExpression.Column(name)(0)
  private def millis(count: Long) = Span.ofMillis(count)

  test("the dialect is called spl") {
    assert(Spl.name == "spl")
  }

  test("SPL-7: tumbling by count") {
    assert(policy("tumbling, count(3)") == tumbling(EachRows(3))("tumbling, count(3)"))
  }

  test("SPL-6 and SPL-8: tumbling by time, which counts from the first row or the origin") {
    val text = "tumbling, time(10)"
    def every(origin: Origin) = policy(text, scope.copy(origin = Some(origin)))
    def pieced(origin: Origin) = tumbling(Period(millis(10000), origin))
    assert(policy(text) == pieced(Origin.FirstRow)(text))
    assert(every(Origin.FirstRow) == policy(text))
    assert(every(Origin.At(3000)) == pieced(Origin.At(3000))(s"$text origin 3000 milliseconds"))
    assert(every(Origin.epoch) == pieced(Origin.epoch)(s"$text origin 0 milliseconds"))
    assert(policy(text).usesTime)
  }

  test("SPL-9: tumbling by punctuation") {
    assert(policy("tumbling, punct()") == tumbling(Punctuation)("tumbling, punct()"))
  }

  testEach("SPL-10: a delta of 0")("n" -> "0", "price" -> "0.0", "when" -> "0") {
    case (name, zero) =>
      assert(canonical(s"tumbling, delta($name, 0)") == s"tumbling, delta($name, $zero)")
  }

  test("SPL-10: tumbling by delta, in the arithmetic of the attribute") {
    def exceeds(name: String, distance: Distance) =
      tumbling(Exceeds(column(name), distance))
    assert(
      policy("tumbling, delta(n, 5)") ==
        exceeds("n", Distance.Whole(5))("tumbling, delta(n, 5)"))
    assert(
      policy("tumbling, delta(price, 5)") ==
        exceeds("price", Distance.Real(5))("tumbling, delta(price, 5.0)"))
    assert(
      policy("tumbling, delta(price, 0.50)") ==
        exceeds("price", Distance.Real(0.5))("tumbling, delta(price, 0.5)"))
    assert(
      policy("tumbling, delta(when, 1.50)") ==
        exceeds("when", Distance.Whole(1500000))("tumbling, delta(when, 1.5)"))
    assert(
      window("tumbling, delta(n, 9223372036854775807)").triggers.leave ==
        Exceeds(column("n"), Distance.Whole(Long.MaxValue)))
    assert(
      window("tumbling, delta(when, 8640000000)").triggers.leave ==
        Exceeds(column("when"), Distance.Whole(8640000000000000L)))
    assert(
      policy(canonical("tumbling, delta(price, 9.9e64)")) ==
        policy("tumbling, delta(price, 9.9e64)"))
  }

  test("SPL-11: sliding by count, which triggers with every row unless it says otherwise") {
    val text = "sliding, count(3)"
    assert(policy(text) == pieces(MoreThan(3), EachRow, EachRows(1))(text))
    assert(policy("sliding, count(3), count(1)") == policy(text))
  }

  test("SPL-13: sliding by time") {
    val text = "sliding, time(5)"
    val bound = AgeExceeded(millis(5000))
    assert(policy(text) == pieces(bound, WhenDue, EachRows(1))(text))
  }

  test("SPL-14: sliding by delta") {
    val bound = ValueBehind(column("n"), Distance.Whole(5))
    val text = "sliding, delta(n, 5)"
    assert(policy(text) == pieces(bound, EachRow, EachRows(1))(text))
  }

  testEach("SPL-15 and SPL-16: triggers")("count(3)", "time(30)", "delta(n, 5)") { eviction =>
    val plain = window(s"sliding, $eviction")
    def triggered(text: String, report: Trigger) = {
      val triggered = s"sliding, $eviction, $text"
      assert(window(triggered) == plain.copy(triggers = plain.triggers.copy(report = report)))
      assert(canonical(triggered) == triggered)
    }
    triggered("count(5)", EachRows(5))
    triggered("time(0.5)", Period(millis(500), Origin.FirstRow))
    triggered("delta(price, 0.5)", Exceeds(column("price"), Distance.Real(0.5)))
    triggered("delta(when, 60)", Exceeds(column("when"), Distance.Whole(60000000)))
  }

  private val moved = scope.copy(origin = Some(Origin.At(-1)))

  testEach("SPL-16: the origin is part of time triggers alone")(
    "tumbling, count(3)",
    "tumbling, punct()",
    "tumbling, delta(n, 5)",
    "sliding, time(5)",
    "sliding, count(3), count(2)")(text => assert(policy(text, moved) == policy(text)))

  test("SPL-16: a time trigger counts from the origin, a time eviction from each row") {
    assert(
      policy("sliding, time(5), time(1)", moved).text ==
        "sliding, time(5), time(1) origin -1 milliseconds")
    assert(
      policy("sliding, time(5), time(1)", moved).retention.windows.head.triggers.report ==
        Period(millis(1000), Origin.At(-1)))
  }

  test("SPL-4: partitioned and partitionBy") {
    val keyed = policy("tumbling, count(3), partitioned; param partitionBy : symbol, venue;")
    assert(keyed.group == Group.by(Seq("symbol", "venue")))
    assert(keyed.retention == policy("tumbling, count(3)").retention)
    assert(keyed.text == "tumbling, count(3), partitioned; param partitionBy : symbol, venue;")
    assert(keyed.window == "tumbling, count(3)")
    assert(
      canonical("sliding,count(3),partitioned param partitionBy:`trade id`,count,`symbol`") ==
        "sliding, count(3), partitioned; param partitionBy : `trade id`, count, symbol;")
    assert(
      policy(
        "tumbling, time(5), partitioned; param partitionBy : symbol;",
        scope.copy(origin = Some(Origin.At(7)))).text ==
        "tumbling, time(5), partitioned; param partitionBy : symbol; origin 7 milliseconds")
  }

  test("SPL-20 to SPL-22: when partitions are evicted") {
    def reclaimed(rule: String) = {
      val evicting = policy(s"sliding, time(5), partitioned, $rule; param partitionBy : symbol;")
      assert(evicting.window == s"sliding, time(5), partitioned, $rule")
      assert(evicting.text == s"${evicting.window}; param partitionBy : symbol;")
      assert(evicting.group.columns == Seq("symbol"))
      evicting.group.reclaim
    }
    assert(reclaimed("partitionAge(0.5)").contains(Reclaim.Silent(500000)))
    assert(reclaimed("partitionCount(2)").contains(Reclaim.MoreGroupsThan(2)))
    assert(reclaimed("tupleCount(5)").contains(Reclaim.MoreRowsThan(5)))
  }

  test("the key may be given beside the text") {
    assert(policy("sliding, count(3), partitioned", grouped) == policy("sliding, count(3)"))
    val evicting = policy("sliding, count(3), partitioned, partitionAge(10);", grouped)
    assert(evicting.group == Group(Nil, Some(Reclaim.Silent(10000000))))
    assert(evicting.text == "sliding, count(3), partitioned, partitionAge(10)")
    assert(evicting.window == evicting.text)
    val both = "sliding, count(3), partitioned; param partitionBy : symbol;"
    assert(policy(both, grouped) == policy(both))
  }

  testEach("SPL-1: the name of the port may stand first, and before attributes")(
    "window P : tumbling, delta(P.n, 5), partitioned; param partitionBy : P.symbol;",
    "InPort: tumbling, delta(InPort.n, 5), partitioned; param partitionBy : symbol",
    "`In Port`: tumbling,delta(n,5),partitioned;param partitionBy:`In Port`.symbol;",
    "window tumbling : tumbling, delta(n, 5), partitioned; param partitionBy : symbol;",
    "tumbling : tumbling, delta(n, 5), partitioned; param partitionBy : symbol;",
    "tumbling, delta(p.n, 5), partitioned; param partitionBy : p . symbol;") { text =>
    assert(
      canonical(text) ==
        "tumbling, delta(n, 5), partitioned; param partitionBy : symbol;")
  }

  test("keywords are names where names stand") {
    assert(
      canonical("window window : sliding, delta(count, 5)") ==
        "sliding, delta(count, 5)")
    assert(
      policy("tumbling, punct(), partitioned; param partitionBy : partitioned;").group.columns ==
        Seq("partitioned"))
  }

  test("expressions know where they stand") {
    val text = "sliding, delta(InPort.n, 5), partitioned; param partitionBy : InPort.symbol"
    val keyed = policy(text)
    assert(keyed.group.keys.map(_.offset) == Seq(text.indexOf("symbol")))
    keyed.retention.windows.head.bound match {
      case ValueBehind(value, _) => assert(value.offset == text.indexOf("n, 5"))
      case bound => fail(bound.toString)
    }
  }

  testEach("SPL-2: sizes are constant expressions")(
    "tumbling, count(1 + 2 * (3 - 2))" -> "tumbling, count(3)",
    "tumbling, count(N * N - 7/2)" -> "tumbling, count(13)",
    "tumbling, count(`my rows`)" -> "tumbling, count(9)",
    "tumbling, time(0.50)" -> "tumbling, time(0.5)",
    "tumbling, time(10.0)" -> "tumbling, time(10)",
    "tumbling, time(N)" -> "tumbling, time(4)",
    "tumbling, time(F * 2)" -> "tumbling, time(3)",
    "tumbling, time(0.000001)" -> "tumbling, time(0.000001)",
    "tumbling, time(1e2)" -> "tumbling, time(100)",
    "sliding, delta(n, N - 3), time(-(-1))" -> "sliding, delta(n, 1), time(1)",
    "sliding, delta(price, 1.0 / 4.0)" -> "sliding, delta(price, 0.25)",
    "tumbling, count(1000000000000)" -> "tumbling, count(1000000000000)",
    "tumbling, time(8640000000)" -> "tumbling, time(8640000000)") { case (text, expected) =>
    assert(canonical(text) == expected)
  }

  testEach("layout and semicolons do not matter")(
    " sliding\n,\tcount(3)\u00a0,time( 1.5 )\r\n",
    "sliding,count(3),time(1.5);",
    "window p:sliding,count(3),time(1.5);") { text =>
    assert(canonical(text) == "sliding, count(3), time(1.5)")
  }

  test("a text as long and as deep as is allowed") {
    assert(policy("tumbling, count(2)" + " " * 9982) == policy("tumbling, count(2)"))
    assert(canonical(s"tumbling, count(${"(" * 32}2${")" * 32})") == "tumbling, count(2)")
    assert(canonical(s"tumbling, time(1${"+1" * 4900})") == "tumbling, time(4901)")
  }
}
