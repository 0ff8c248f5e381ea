package winops.text.apama

import winops.policy._
import winops.terms.{Origin, RowExpression, Span, StepOrder, Stream}
import winops.testing.TableTests
import winops.window.piece._

class ApamaSuite extends TableTests {
  private val scope = Scope(
    parameters = Map(
      "d" -> Parameter.Fraction(BigDecimal("2.5")),
      "p" -> Parameter.Fraction(BigDecimal("0.5")),
      "n" -> Parameter.Whole(2),
      "my rows" -> Parameter.Whole(9)),
    columns = Seq("symbol", "Symbol", "venue", "price", "trade id", "a`b", "within", "v"))

  private def policy(text: String, scope: Scope = scope): Policy =
    Apama.parse(text, scope).fold(e => fail(s"${e.message}\n${e.caret}"), identity)

  private def window(text: String): Window = policy(text).retention.windows.head

  private def canonical(text: String): String = policy(text).text

  private val both = Stream(inserts = true, deletes = true, StepOrder.Net)

  private def pieces(bound: Bound, triggers: Triggers, group: String*)(text: String): Policy =
    Policy(
      Group.by(group),
      Retention.One(Window(EveryRow, Arrival, bound, triggers)),
      both,
      text,
      window = text.replaceFirst("^partition by [^ ]*(, [^ ]*)* (?=within|retain)", ""))

  private val atOnce = Triggers(EachRow, Excess(1), Never)
  private val whenDue = Triggers(EachRow, WhenDue, Never)
  private def together(trigger: Trigger) = Triggers(trigger, trigger, Never)
  private def millis(count: Long) = Span.ofMillis(count)
  private def period(count: Long) = together(Period(millis(count), Origin.epoch))

  test("the dialect is called apama") {
    assert(Apama.name == "apama")
  }

  test("APAMA-5: within") {
    assert(policy("within 1.5") == pieces(AgeReached(millis(1500)), whenDue)("within 1.5"))
    assert(policy("within 1.5").usesTime)
  }

  test("APAMA-6: retain") {
    assert(policy("retain 3") == pieces(MoreThan(3), atOnce)("retain 3"))
    assert(!policy("retain 3").usesTime)
  }

  test("APAMA-7: within and retain, whichever comes first") {
    val bound = AnyOf(Seq(AgeReached(millis(10000)), MoreThan(5)))
    assert(policy("within 10.0 retain 5") == pieces(bound, whenDue)("within 10.0 retain 5"))
  }

  test("APAMA-8: within in batches, which count from the epoch or the scope's origin") {
    val text = "within 1.5 every 1.0"
    def every(origin: Origin) = policy(text, scope.copy(origin = Some(origin)))
    def pieced(origin: Origin) =
      pieces(AgeReached(millis(1500)), together(Period(millis(1000), origin))) _
    assert(policy(text) == pieced(Origin.epoch)(text))
    assert(every(Origin.epoch) == policy(text))
    assert(every(Origin.At(250)) == pieced(Origin.At(250))(s"$text origin 250 milliseconds"))
    assert(every(Origin.FirstRow) == pieced(Origin.FirstRow)(s"$text origin first row"))
  }

  test("APAMA-10: retain in batches") {
    assert(
      policy("retain 3 every 2") ==
        pieces(MoreThan(3), together(EachRows(2)))("retain 3 every 2"))
    assert(window("retain 5 every 1").triggers == together(EachRows(1)))
  }

  test("APAMA-11: within and retain in batches of time") {
    val bound = AnyOf(Seq(AgeReached(millis(60000)), MoreThan(5)))
    assert(
      policy("within 60.0 every 30.0 retain 5") ==
        pieces(bound, period(30000))("within 60.0 every 30.0 retain 5"))
  }

  testEach("APAMA-12: with unique")(
    "retain 3",
    "retain 3 every 2",
    "within 1.0",
    "within 1.0 every 0.5 retain 3") { text =>
    val unique = policy(s"$text with unique v.symbol")
    val Window(admit, order, bound, triggers) = unique.retention.windows.head
    assert(order == Shadowing(Seq(RowExpression.Column("symbol")(0))))
    assert(Window(admit, Arrival, bound, triggers) == window(text))
    assert(unique.text == s"$text with unique symbol")
    assert(unique.window == unique.text)
  }

  test("APAMA-13: partition by, kept also where it changes nothing") {
    assert(
      policy("partition by v.symbol, v.venue retain 1") ==
        pieces(MoreThan(1), atOnce, "symbol", "venue")("partition by symbol, venue retain 1"))
    assert(
      policy("partition by symbol within 1.0") ==
        pieces(AgeReached(millis(1000)), whenDue, "symbol")("partition by symbol within 1.0"))
    assert(
      policy("partition by venue within 0.5 retain 6 with unique v.symbol").group ==
        Group.by(Seq("venue")))
  }

  test("keys are columns, with the name of the item before them or not") {
    assert(
      canonical("partition by \"trade id\", `a``b`, `within` retain 1") ==
        "partition by `trade id`, `a``b`, `within` retain 1")
    assert(policy("partition by v.v retain 1").group == Group.by(Seq("v")))
    assert(policy("partition by t.symbol retain 1").group.keys.map(_.offset) == Seq(15))
  }

  testEach("keys are columns, with the name of the item before them or not")(
    "from v in values partition by v.symbol retain 1",
    "from v in values partition by symbol retain 1",
    "partition by anything . symbol retain 1",
    "partition by `any thing`.\"symbol\" retain 1") { text =>
    assert(canonical(text) == "partition by symbol retain 1")
  }

  testEach("APAMA-14: select gives what a step shows")(
    ("retain 2", true, true),
    ("from v in values retain 2", true, true),
    ("from v in values retain 2;", true, true),
    ("from t in values retain 2 select t", true, false),
    ("from t in values retain 2 select t;", true, false),
    ("from symbol in symbols retain 2 select symbol", true, false),
    ("partition by t.symbol retain 2 select t", true, false),
    ("retain 2 with unique t.symbol select t", true, false),
    ("retain 2 select t", true, false),
    ("retain 2 select `t`", true, false),
    ("from t in values retain 2 select rstream t", false, true),
    ("from t in values retain 2 select rstream sum(t.price);", false, true),
    ("retain 2 select rstream t", false, true),
    ("from t in values retain 2 select sum(t.price)", true, true),
    ("from t in values retain 2 select t.price", true, true),
    ("from t in values retain 2 select u", true, true),
    ("retain 2 select price", true, true),
    (
      "from t in values within d every p select R(t.symbol, \"a;b\", t.price * 1.5 >= 3.0);",
      true,
      true),
    ("from t in values retain 2 select {t.id: [t]} != 'x' ", true, true)) {
    case (text, inserts, deletes) =>
      assert(policy(text).stream == Stream(inserts, deletes, StepOrder.Net))
  }

  test("the text of a query that does not show all says so") {
    assert(
      canonical("from t in all com.Tick() partition by t.symbol retain 1 select t") ==
        "from item in rows partition by symbol retain 1 select item")
    val removed = policy("partition by symbol within 1.5 every 1.0 select rstream x")
    assert(
      removed.text ==
        "from item in rows partition by symbol within 1.5 every 1.0 select rstream item")
    assert(removed.window == "from item in rows within 1.5 every 1.0 select rstream item")
    val itemsAreRows = scope.copy(columns = Seq("item", "rows"))
    val text = "from item in rows partition by item retain 1 select item"
    assert(policy(text, itemsAreRows).text == text)
    assert(!policy(text, itemsAreRows).stream.deletes)
  }

  test("APAMA-15: retain all") {
    val everything = Triggers(EachRow, Never, Never)
    assert(policy("retain all") == pieces(Unbounded, everything)("retain all"))
    assert(policy("from v in values retain all select v;").stream.inserts)
    assert(policy("retain all select sum(x)") == policy("retain all"))
  }

  test("APAMA-2: constant expressions of one type, also with parameters") {
    assert(window("within 0.0015").bound == AgeReached(Span.ofMicros(1500)))
  }

  testEach("APAMA-2: constant expressions of one type, also with parameters")(
    "within 0.5 * 3.0 every 2.0/2.0" -> "within 1.5 every 1.0",
    "within d every p retain n" -> "within 2.5 every 0.5 retain 2",
    "within d - p * (1.0 + 1.0)" -> "within 1.5",
    "within -(-d)" -> "within 2.5",
    "within 1e1" -> "within 10.0",
    "within 0.000001" -> "within 0.000001",
    "within 1.0 / 4.0" -> "within 0.25",
    "retain 7/2 every n * n" -> "retain 3 every 4",
    "retain `my rows`" -> "retain 9",
    "within 8640000000.0" -> "within 8640000000.0",
    "retain 1000000000000" -> "retain 1000000000000") { case (text, expected) =>
    assert(canonical(text) == expected)
  }

  testEach("the origin is part of periodic policies alone")(
    "within 1.0",
    "retain 3",
    "retain 3 every 2",
    "within 1.0 retain 3",
    "retain all") { text =>
    assert(policy(text, scope.copy(origin = Some(Origin.FirstRow))) == policy(text))
  }

  testEach("blanks and one semicolon do not matter")(
    " within\n\t1.5every 1.0 ;",
    "within 1.5\u00a0every\u20031.0\r\n") { text =>
    assert(canonical(text) == "within 1.5 every 1.0")
  }

  test("a text as long and as deep as is allowed") {
    assert(policy("retain 2" + " " * 9992) == policy("retain 2"))
    assert(canonical(s"retain ${"(" * 32}2${")" * 32}") == "retain 2")
    assert(canonical(s"within 1.0${"+1.0" * 2400}") == "within 2401.0")
  }
}
