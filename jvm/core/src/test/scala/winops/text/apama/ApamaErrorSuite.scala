package winops.text.apama

import org.scalatest.Assertion
import winops.policy._
import winops.testing.MarkedMistakes
import winops.text.dialect.Dialect

class ApamaErrorSuite extends MarkedMistakes {
  override protected val dialect: Dialect = Apama

  override protected val scope: Scope = Scope(
    parameters = Map(
      "N" -> Parameter.Whole(3),
      "Z" -> Parameter.Whole(0),
      "F" -> Parameter.Fraction(BigDecimal("2.0")),
      "T" -> Parameter.Text("2.0")),
    columns = Seq("symbol", "venue", "trade id", "n"))

  all("the mistakes of the golden vectors", Category.Type)(
    "within ^10",
    "within 1.5 every ^1",
    "within 1.5 ^+ 1")

  all("the mistakes of the golden vectors", Category.Range)(
    "retain ^0",
    "retain ^-1",
    "within ^-1.5",
    "within 1.5 every ^0.0")

  all("the mistakes of the golden vectors", Category.Syntax)(
    "retain 5 ^within 10.0",
    "within 10.0 retain 5 ^every 2",
    "within 10.0 every 1.0 retain 5 ^every 2",
    "^every 1.0",
    "^")

  all("the mistakes of the golden vectors", Category.Unbounded)(
    "retain all ^every 3",
    "within 5.0 retain ^all",
    "from v in values retain all select ^rstream v")

  all("the mistakes of the golden vectors", Category.UnboundParameter)("retain ^n")

  all("syntax: what stands where nothing of the kind can", Category.Syntax)(
    "^;",
    "^Within 1.0",
    "^keep 3",
    "within^",
    "within ^;",
    "within ^every 1.0",
    "within 1.0 every^",
    "within 1.0 every ^retain 3",
    "within 1.0 ^within 2.0",
    "within 1.0 every 1.0 ^every 1.0",
    "within 1.0 retain^",
    "within 1.0 retain 3 ^retain 3",
    "within 1.0 ^please",
    "within ^'1.0'",
    "within 1.0; ^within 1.0",
    "within 1.0;^;",
    "retain^",
    "retain ^every 3",
    "retain 3 ^every3",
    "retain 3 every 2 ^retain 3",
    "retain 3 ^4",
    "retain 3 ^% 2",
    "retain ^+3",
    "retain (3^",
    "retain ^\u0000",
    "retain all ^within 1.0",
    "retain all ^retain 3")

  all("syntax: partition by and with unique", Category.Syntax)(
    "partition^",
    "partition ^symbol retain 1",
    "partition by^",
    "partition by ^retain 1",
    "partition by ^,symbol retain 1",
    "partition by symbol,^",
    "partition by symbol, ^within 1.0",
    "partition by symbol ^venue retain 1",
    "partition by symbol^",
    "partition by symbol^;",
    "partition by v.^",
    "partition by v.^.symbol retain 1",
    "partition by v.symbol^.x retain 1",
    "partition by v.symbol^() retain 1",
    "partition by ^3 retain 1",
    "partition by ^(symbol) retain 1",
    "partition by symbol ^from v in values retain 1",
    "retain 1 ^partition by symbol",
    "retain 1 with^",
    "retain 1 with ^symbol",
    "retain 1 with unique^",
    "retain 1 with unique ^select x",
    "retain 1 with unique symbol^, venue",
    "retain 1 with unique symbol ^with unique venue",
    "retain 1 ^unique symbol",
    "retain 1 with unique symbol ^every 3")

  all("syntax: from and select", Category.Syntax)(
    "from^",
    "from ^in values retain 1",
    "from v ^values retain 1",
    "from v in^",
    "from v in ^retain 1",
    "from v in all ^within 1.0",
    "from v in all Tick(^symbol) retain 1",
    "from v in Tick(^",
    "from v in com.^",
    "from v in values^",
    "from v in values ^select v",
    "from v in values ^every 1.0",
    "^select v",
    "retain 1 select^",
    "retain 1 select ^;",
    "retain 1 select rstream^",
    "retain 1 select rstream ^;",
    "retain 1 select v; ^v",
    "retain 1 select v ^#",
    "retain 1 select f(^'v)",
    "retain 1 select ^\"v")

  all("unsupported: what queries have besides windows", Category.Unsupported)(
    "from v in values retain 1 ^where v.price > 3.0 select v",
    "from v in values retain 1 with unique v.symbol ^group by v.symbol select sum(v.n)",
    "from v in values within 1.0 ^from w in values within 2.0 select v.n + w.n",
    "from v in values retain 1 ^join w in values retain 1 on v.n equals w.n select v.n",
    "retain all ^having n > 3 select n")

  all("type: seconds have a fraction, numbers of rows have none", Category.Type)(
    "within ^N",
    "within ^-10",
    "within 1.5 every ^N * 2",
    "within ^(3)",
    "within 1.5 ^* N",
    "within F ^/ 2",
    "within ^T",
    "retain ^3.0",
    "retain ^F",
    "retain 2 ^+ 1.0",
    "retain 3 every ^2.0",
    "retain ^1e3",
    "retain ^T",
    "within 1.0 retain ^3.0")

  messages("type: seconds have a fraction, numbers of rows have none")("within ^10" -> "10.0")

  all("range: sizes and times are above zero, and not too great or too fine", Category.Range)(
    "retain ^Z",
    "retain ^N - 3",
    "retain ^1/2",
    "retain 3/^0",
    "retain 3 every ^0",
    "retain ^1000000000001",
    "retain ^9223372036854775808",
    "within ^0.0",
    "within ^F - 2.0",
    "within 1.0/^0.0",
    "within 1.0 every ^-1.0",
    "within 1.0 retain ^0",
    "within ^0.0000001",
    "within ^1.0/3.0",
    "within ^8640000000.000001",
    "within ^1e60",
    "within ^1e65",
    "within 1e60 ^* 1e60")

  all("unbound-parameter: a name without a value, also a column's", Category.UnboundParameter)(
    "within ^x",
    "within 1.0 every ^symbol",
    "retain ^`all`")

  messages("unbound-parameter: a name without a value, also a column's")(
    "retain ^n" -> "n is a column")

  all("unbounded: what does not go with retain all", Category.Unbounded)(
    "partition by symbol retain ^all",
    "within 5.0 every 1.0 retain ^all",
    "retain all ^with unique symbol",
    "retain all select ^rstream sum(n)")

  messages("unbounded: what does not go with retain all")(
    "partition by symbol retain ^all" -> "cannot be combined with partition by")

  all(
    "duplicate-column: a key again, also with the item's name or in quotes",
    Category.DuplicateColumn)(
    "partition by symbol, venue, ^symbol retain 1",
    "partition by v.symbol, ^symbol retain 1",
    "partition by symbol, ^`symbol` retain 1")

  test("unknown-column: names are case-sensitive, and the message helps") {
    assert(refused("partition by ^x retain 1", Scope()).message.endsWith("there are none"))
  }

  all("unknown-column: names are case-sensitive, and the message helps", Category.UnknownColumn)(
    "partition by ^colour retain 1",
    "partition by v.^Symbol retain 1",
    "partition by symbol, ^Venue within 1.0",
    "retain 1 with unique ^colour",
    "from v in values partition by ^v retain 1",
    "partition by ^`v.symbol` retain 1")

  messages("unknown-column: names are case-sensitive, and the message helps")(
    "partition by v.^Symbol retain 1" -> "there is no Symbol: did you mean symbol?",
    "retain 1 with unique ^colour" -> "the columns are symbol, venue, `trade id`, n")

  all(
    "unknown-column: keys stand behind the name of the item and no other",
    Category.UnknownColumn)(
    "from v in values partition by ^w.symbol retain 1",
    "from v in values retain 1 with unique ^values.symbol",
    "partition by v.symbol, ^w.venue retain 1",
    "partition by v.symbol retain 3 with unique ^w.venue")

  messages("unknown-column: keys stand behind the name of the item and no other")(
    "from v in values retain 1 with unique ^w.symbol" -> "v before the dot, not w")

  all("columns are looked at when the rest is right", Category.Range)(
    "partition by colour retain ^0")

  all("columns are looked at when the rest is right", Category.Syntax)(
    "retain 1 with unique colour ^every 2")

  all("columns are looked at when the rest is right", Category.UnknownColumn)(
    "partition by ^colour retain 1 with unique hue")

  all("limit: length and depth", Category.Limit)(
    "retain 2" + " " * 9992 + "^ ",
    s"retain ${"(" * 33}^2${")" * 33}",
    s"within ${"-" * 33}^2.0",
    s"retain ${"(" * 33}^${"(" * 4900}",
    s"retain ${"-" * 100000}".patch(10000, "^", 0))

  test("the example is valid even where a column is called like a keyword") {
    val odd = Scope(columns = Seq("retain"))
    def check(marked: String): Assertion =
      assert(refused(marked, odd).example.contains("partition by `retain` "))
    check("partition by ^d retain 1")
  }
}
