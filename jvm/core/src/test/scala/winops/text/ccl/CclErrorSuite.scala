package winops.text.ccl

import org.scalatest.Assertion
import winops.policy._
import winops.testing.MarkedMistakes
import winops.text.dialect.Dialect

class CclErrorSuite extends MarkedMistakes {
  override protected val dialect: Dialect = Ccl

  override protected val scope: Scope = Scope(
    parameters = Map(
      "N" -> Parameter.Whole(3),
      "Z" -> Parameter.Whole(0),
      "MAX" -> Parameter.Whole(Long.MaxValue),
      "MIN64" -> Parameter.Whole(Long.MinValue),
      "F" -> Parameter.Fraction(BigDecimal("2.0")),
      "HUGE" -> Parameter.Fraction(BigDecimal("1e999999")),
      "T3" -> Parameter.Text("3"),
      "W" -> Parameter.Text("5 SECONDS"),
      "WW" -> Parameter.Text("W"),
      "BLANK" -> Parameter.Text(" "),
      "TWICE" -> Parameter.Text("1 SEC 2 SECS"),
      "LONG" -> Parameter.Text("1" * 20000)),
    columns = Seq("symbol", "venue", "trade id"))

  all("syntax: what stands where nothing of the kind can", Category.Syntax)(
    "^;",
    "^3 ROWS",
    "^KEEPS 3 ROWS",
    "KEEP^",
    "KEEP ^;",
    "KEEP ^ROWS",
    "KEEP ^ROW",
    "KEEP ^SECONDS",
    "KEEP ^PER (symbol)",
    "KEEP EVERY ^ALL",
    "KEEP EVERY ^EVERY 3 ROWS",
    "KEEP ALL ^EVERY",
    "KEEP ALL ^PER (symbol)",
    "KEEP ALL ROWS ^SLACK 3",
    "KEEP ALL ROWS ^ROWS",
    "KEEP 3 ROWS ^5 SECONDS",
    "KEEP 3 ROWS ^please",
    "KEEP 3 ROWS;^;",
    "KEEP 3 ROWS; ^KEEP 3 ROWS",
    "KEEP 3 ROWS ^!",
    "KEEP 3 ^4 ROWS",
    "KEEP 3 ROWS SLACK^",
    "KEEP 3 ROWS SLACK ^PER (symbol)",
    "KEEP 3 ROWS SLACK 2 ^SLACK 2",
    "KEEP 2 ROWS PER(symbol) ^SLACK 2",
    "KEEP 10 MINUTES ^- 10 SECONDS",
    "KEEP 10 MINUTES ^+ 10 SECONDS",
    "KEEP 10 MINUTES,^",
    "KEEP 10 MINUTES, ^N SECONDS",
    "KEEP 10 MINUTES ^N SECONDS",
    "KEEP 3 DAYS ^02:30",
    "KEEP W ^WEEKS")

  all("syntax: expressions", Category.Syntax)(
    "KEEP ^+3 ROWS",
    "KEEP 3 + ^ROWS",
    "KEEP 3 * ^* 3 ROWS",
    "KEEP (3 ^ROWS",
    "KEEP (3^",
    "KEEP (^) ROWS",
    "KEEP 3^) ROWS",
    "KEEP 3 ^, ROWS",
    "KEEP 1^.",
    "KEEP ^.5 SECONDS",
    "KEEP 3 ^% 2 ROWS",
    "KEEP 3 ^\u2212 2 ROWS",
    "KEEP 3 ^\ud83d\ude00 ROWS",
    "KEEP ^\u0000",
    "KEEP ^\ud83d")

  all("syntax: PER", Category.Syntax)(
    "KEEP 2 ROWS PER^",
    "KEEP 2 ROWS PER(^)",
    "KEEP 2 ROWS PER(^,symbol)",
    "KEEP 2 ROWS PER(symbol,^)",
    "KEEP 2 ROWS PER ^symbol",
    "KEEP 2 ROWS PER(symbol^",
    "KEEP 2 ROWS PER(symbol ^venue)",
    "KEEP 2 ROWS PER(^3)",
    "KEEP 2 ROWS PER(^'symbol')",
    "KEEP 2 ROWS PER(symbol)^)",
    "KEEP 2 ROWS PER(symbol) ^PER(venue)",
    "KEEP 2 ROWS PER(^`symbol)",
    "KEEP 2 ROWS PER(^\"symbol)",
    "KEEP 2 ROWS PER(^\"symbol\"\")")

  all("syntax: intervals in quotes and with colons", Category.Syntax)(
    "KEEP '^'",
    "KEEP ^'5 SECONDS",
    "KEEP INTERVAL ^5 SECONDS",
    "KEEP INTERVAL^",
    "KEEP INTERVAL ^W",
    "KEEP '5 SECONDS ^- 3 SECONDS'",
    "KEEP '^INTERVAL'",
    "KEEP '3 HOURS ^02:30'",
    "KEEP '3 + 2 DAYS ^02:30'",
    "KEEP '3 DAYS 02:30 ^5 SECONDS'",
    "KEEP '02:30 ^02:30'",
    "KEEP '5 SECONDS^;'",
    "KEEP ^1:2:3",
    "KEEP ^1:",
    "KEEP ^01:02:03:04",
    "KEEP ^01:02.5",
    "KEEP ^1:02:03.",
    "KEEP 01:02 ^ROWS",
    "KEEP ^01:02:",
    "KEEP '5 SECONDS' ^SECONDS")

  all("syntax: parameters' texts are reported at the parameter", Category.Syntax)(
    "KEEP ^BLANK",
    "KEEP EVERY ^BLANK PER (symbol)")

  messages("syntax: parameters' texts are reported at the parameter")(
    "KEEP ^BLANK" -> "at character 2 of parameter BLANK")

  all("type: counts are whole, and texts no numbers", Category.Type)(
    "KEEP ^2.5 ROWS",
    "KEEP ^2.0 ROWS",
    "KEEP ^1e3 ROWS",
    "KEEP EVERY ^2.5 ROWS",
    "KEEP 2 * ^1.5 ROWS",
    "KEEP 2 * (1 + ^F) - N ROWS",
    "KEEP ^F ROWS",
    "KEEP 3 ROWS SLACK ^1.5",
    "KEEP 3 ROWS SLACK 2 + ^1.0",
    "KEEP 3 ROWS SLACK ^W",
    "KEEP 3 ROWS SLACK ^T3",
    "KEEP 1 + ^W ROWS",
    "KEEP -^W ROWS",
    "KEEP (^W) ROWS",
    "KEEP (^W)  SECONDS",
    "KEEP ^W ROWS",
    "KEEP ^W SECONDS")

  all("range: counts", Category.Range)(
    "KEEP ^0 ROWS",
    "KEEP EVERY ^0 ROWS",
    "KEEP ^Z ROWS",
    "KEEP ^N-3 ROWS",
    "KEEP ^-1 ROWS",
    "KEEP ^(1 - 2) ROWS",
    "KEEP ^1/2 ROWS",
    "KEEP 3 ROWS SLACK ^0",
    "KEEP 3 ROWS SLACK ^-2",
    "KEEP ^1000000000001 ROWS",
    "KEEP ^MAX ROWS",
    "KEEP 3 ROWS SLACK ^1000000000001")

  all("range: arithmetic", Category.Range)(
    "KEEP 3/^0 ROWS",
    "KEEP 3/^(1 - 1) ROWS",
    "KEEP 3.0/^0.0 SECONDS",
    "KEEP ^9223372036854775808 ROWS",
    s"KEEP ^${"9" * 5000} ROWS",
    "KEEP MAX ^+ 1 ROWS",
    "KEEP 5 - (MAX ^* 2) ROWS",
    "KEEP ^-MIN64 ROWS",
    "KEEP MIN64 ^/ -1 ROWS",
    "KEEP MIN64 ^- 1 ROWS",
    "KEEP ^1e999999999 SECONDS",
    "KEEP ^1e-999999999 SECONDS",
    "KEEP ^1e99999999999999999999999999 ROWS",
    "KEEP ^1e65 SECONDS",
    s"KEEP ^0.${"1" * 35} SECONDS",
    s"KEEP ^0.${"1" * 9000} SECONDS",
    "KEEP 1e60 ^* 1e60 SECONDS",
    "KEEP 1e30 ^+ 1e-30 SECONDS",
    "KEEP 1.1e40 ^* 1.1e40 SECONDS",
    "KEEP ^HUGE SECONDS",
    "KEEP 1 * ^HUGE SECONDS")

  all("range: intervals", Category.Range)(
    "KEEP ^0 SECONDS",
    "KEEP ^0 DAYS 0 SECONDS",
    "KEEP ^-1 SECONDS",
    "KEEP ^-1 MINUTES 90 SECONDS",
    "KEEP ^1/2 SECONDS",
    "KEEP ^0.5 MICROSECONDS",
    "KEEP ^1.0/3 SECONDS",
    "KEEP ^1.0000001 SECONDS",
    "KEEP ^1.0000000000000000000000000000000001 DAYS",
    "KEEP ^100001 DAYS",
    "KEEP ^100000 DAYS 1 MICROSECOND",
    "KEEP 1 SECOND ^8640000000000000001 MICROSECONDS",
    "KEEP EVERY ^1e40 DAYS",
    "KEEP '00:00:^60'",
    "KEEP 00:^60",
    "KEEP 00:^99:99",
    "KEEP ^00:00:00",
    "KEEP '^0 DAYS 00:00'",
    "KEEP '^1e30 DAYS 00:01'",
    "KEEP '^99999 DAYS 24:01'",
    "KEEP ^00:00:00.0000001",
    s"KEEP ^00:00:59.${"0" * 33}1",
    s"KEEP ^00:00:00.${"9" * 5000}",
    s"KEEP ^${"9" * 5000}:00",
    "KEEP ^2400001:00")

  all("unit: a value without a unit of time", Category.Unit)(
    "KEEP 10^",
    "KEEP 10 ^;",
    "KEEP 10 ^FORTNIGHTS",
    "KEEP 10 ^M",
    "KEEP 10 ^PER (symbol)",
    "KEEP 10 ^SLACK 3",
    "KEEP N^",
    "KEEP EVERY N * 2^",
    "KEEP 1 MINUTE 30^",
    "KEEP 1 MINUTE, 30 ^FORTNIGHTS",
    "KEEP 5 SECONDS 3 ^ROWS",
    "KEEP '5^'",
    "KEEP '5 ^ROWS'",
    "KEEP '1 MINUTE 5^'",
    "KEEP ^T3",
    "KEEP ^T3 ROWS",
    "KEEP ^WW",
    "KEEP W + 3^")

  messages("unit: a value without a unit of time")(
    "KEEP 10^" -> "ROWS or a unit of time: DAYS, HOURS")

  all("duplicate-unit: a unit again, also in another spelling", Category.DuplicateUnit)(
    "KEEP 1 SECOND 2 ^SECONDS",
    "KEEP 1 MIN 30 SEC 2 ^MINUTES",
    "KEEP '1 HR, 30 SEC, 2 ^HOURS'",
    s"KEEP 1 SEC 1 ^SEC${" 1 SEC" * 1500}",
    "KEEP ^TWICE")

  all("slack-every: SLACK in a jumping window of rows", Category.SlackWithEvery)(
    "KEEP EVERY 3 ROWS ^SLACK 2",
    "KEEP EVERY 3 ROWS ^slack 0 PER (symbol)",
    "KEEP EVERY 3 ROWS ^SLACK")

  all("slack-time: SLACK with an interval, jumping or not", Category.SlackWithTime)(
    "KEEP 3 SECONDS ^SLACK 2",
    "KEEP EVERY 3 SECONDS ^SLACK 2",
    "KEEP 00:10 ^SLACK 2",
    "KEEP INTERVAL '3 SECONDS' ^SLACK 1.5",
    "KEEP W ^SLACK 2 PER (symbol)")

  all("duplicate-column: a column again, also in quotes", Category.DuplicateColumn)(
    "KEEP 2 ROWS PER(symbol, venue, ^symbol)",
    "KEEP EVERY 5 SECONDS PER(symbol,^symbol)",
    "KEEP 2 ROWS PER(symbol, ^`symbol`)")

  test("unknown-column: names are case-sensitive, and the message helps") {
    assert(refused("KEEP 2 ROWS PER(^x)", Scope()).message.endsWith("there are none"))
  }

  all("unknown-column: names are case-sensitive, and the message helps", Category.UnknownColumn)(
    "KEEP 2 ROWS PER(^colour)",
    "KEEP 2 ROWS PER(^Symbol)",
    "KEEP 2 ROWS PER(symbol, ^Venue)",
    "KEEP 2 ROWS PER(^``)",
    "KEEP 2 SECONDS PER(^N)",
    s"KEEP 2 ROWS PER(^${"x" * 5000})")

  messages("unknown-column: names are case-sensitive, and the message helps")(
    "KEEP 2 ROWS PER(^Symbol)" -> "there is no Symbol: did you mean symbol?",
    "KEEP 2 ROWS PER(^colour)" -> "the columns are symbol, venue, `trade id`")

  all("unbound-parameter: a name without a value, also a column's", Category.UnboundParameter)(
    "KEEP ^M ROWS",
    "KEEP ^M SECONDS",
    "KEEP ^M",
    "KEEP ^M PER (symbol)",
    "KEEP ^M SLACK 2",
    "KEEP EVERY ^symbol;",
    "KEEP ^n ROWS",
    "KEEP 2 * ^M ROWS",
    "KEEP 3 ROWS SLACK ^M",
    "KEEP ^`ROWS` ROWS")

  messages("unbound-parameter: a name without a value, also a column's")(
    "KEEP ^symbol ROWS" -> "symbol is a column",
    "KEEP ^M ROWS" -> """M has no value. Give it one: params={"M": 100} in Python""",
    "KEEP ^n ROWS" -> "n has no value. N has one: the case of letters distinguishes parameters",
    "KEEP ^`a b` ROWS" -> """params={"name": 100} in Python""")

  all("syntax: a word before the number of rows or the interval", Category.Syntax)(
    "KEEP ^LAST 5 ROWS",
    "KEEP ^THE LAST 5 ROWS",
    "KEEP ^THE ALL",
    "KEEP ^THE EVERY 5 ROWS",
    "KEEP EVERY ^LAST 5 MINUTES",
    "KEEP EVERY ^LAST INTERVAL '5 MINUTES'")

  messages("syntax: a word before the number of rows or the interval")(
    "KEEP ^LAST 5 ROWS" -> "not LAST. KEEP 5 ROWS keeps the newest 5 rows",
    "KEEP ^THE EVERY 5 ROWS" -> "not THE. KEEP 5 ROWS keeps the newest 5 rows")

  testEach("a group of KEEP ALL is given beside the text")(
    "KEEP ALL ^PER (symbol)",
    "KEEP ALL ROWS ^PER (symbol)",
    "KEEP ALL ^per")(text =>
    assert(refused(text).message.contains("with per= in Python or PARTITION BY in SQL")))

  messages("a text where a number is expected is reported as one, whatever the text is")(
    "KEEP ^T3 ROWS" -> """Give a number: params={"T3": 100} in Python""",
    "KEEP ^BLANK ROWS" -> "the parameter BLANK is a text",
    "KEEP EVERY ^W SECONDS" -> "the parameter W is a text")

  private def deep(open: String, close: String, times: Int) =
    s"KEEP ${open * times}2${close * times} ROWS"

  all("limit: length and depth", Category.Limit)(
    "KEEP 2 ROWS" + " " * 9989 + "^ ",
    deep("(", ")", 33).patch(5 + 33, "^", 0),
    deep("-", "", 33).patch(5 + 33, "^", 0),
    deep("(-", ")", 17).patch(5 + 33, "^", 0),
    deep("(", ")", 4900).patch(5 + 33, "^", 0),
    deep("-", "", 9000).patch(5 + 33, "^", 0),
    s"KEEP 3 ROWS SLACK ${"-" * 33}^1",
    s"KEEP '${"-" * 33}^1 SECONDS'",
    deep("(", ")", 100000).patch(10000, "^", 0),
    deep("-", "", 100000).patch(10000, "^", 0),
    "KEEP ^LONG")

  test("a parameter's text cannot refer to itself") {
    val circular = Scope(Map("X" -> Parameter.Text("X"), "Y" -> Parameter.Text("Y SECONDS")))
    assert(refused("KEEP ^X", circular).category == Category.Unit)
    assert(refused("KEEP ^Y", circular).category == Category.Type)
  }

  test("the example is valid even where a column's name is not plain") {
    val odd = Scope(columns = Seq("a`b c"))
    def check(marked: String): Assertion =
      assert(refused(marked, odd).example.contains("PER (`a``b c`)"))
    check("KEEP 3 ROWS PER (^d)")
    check("^ROWS")
  }
}
