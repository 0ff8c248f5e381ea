package winops.text.spl

import winops.policy._
import winops.testing.MarkedMistakes
import winops.text.dialect.Dialect

class SplErrorSuite extends MarkedMistakes {
  override protected val dialect: Dialect = Spl

  override protected val scope: Scope = Scope(
    parameters = Map(
      "N" -> Parameter.Whole(3),
      "Z" -> Parameter.Whole(0),
      "F" -> Parameter.Fraction(BigDecimal("2.0")),
      "T" -> Parameter.Text("2")),
    columns = Seq("symbol", "venue", "n", "price", "when", "trade id", "mystery"),
    kinds = Map(
      "symbol" -> ColumnKind.Other,
      "venue" -> ColumnKind.Other,
      "n" -> ColumnKind.WholeNumber,
      "price" -> ColumnKind.RealNumber,
      "when" -> ColumnKind.Timestamp,
      "trade id" -> ColumnKind.WholeNumber))

  all("the mistakes of the golden vectors", Category.Range)(
    "sliding, count(^-1)",
    "sliding, count(3), count(^0)",
    "sliding, time(^-5.0)",
    "tumbling, delta(n, ^-1)",
    "tumbling, count(3), partitioned, partitionAge(^0.0); param partitionBy : symbol;")

  all("the mistakes of the golden vectors", Category.UnknownColumn)(
    "tumbling, delta(^colour, 1)",
    "tumbling, count(3), partitioned; param partitionBy : ^colour;")

  all("the mistakes of the golden vectors", Category.Policy)("sliding, count(3), ^punct()")

  all("the mistakes of the golden vectors", Category.Syntax)(
    "^hopping, count(3)",
    "^Sliding, count(3)",
    "tumbling, count(3), partitioned, partitionCount(2)^, tupleCount(5); " +
      "param partitionBy : symbol;",
    "tumbling ^count(3)")

  all("the mistakes of the golden vectors", Category.PartitionKey)(
    "tumbling, count(3); param ^partitionBy : symbol;")

  all("the mistakes of the golden vectors", Category.DuplicateColumn)(
    "tumbling, count(3), partitioned; param partitionBy : symbol, ^symbol;")

  all("syntax: what stands where nothing of the kind can", Category.Syntax)(
    "^",
    "^;",
    "^, count(3)",
    "^3",
    "tumbling^",
    "tumbling^;",
    "tumbling,^",
    "tumbling, ^;",
    "tumbling, ^3",
    "tumbling, count^",
    "tumbling, count ^3",
    "tumbling, count(^)",
    "tumbling, count(3^",
    "tumbling, count(3 ^4)",
    "tumbling, count(3^, 4)",
    "tumbling, count(^+3)",
    "tumbling, count(^'3')",
    "tumbling, count(3)^)",
    "tumbling, count(3),^",
    "tumbling, count(3) ^partitioned",
    "tumbling, count(3);^;",
    "tumbling, count(3); ^tumbling, count(3)",
    "tumbling, count(3) ^#",
    "tumbling, punct^",
    "tumbling, punct(^3)",
    "tumbling, time(^)",
    "tumbling, delta(^)",
    "tumbling, delta(^5, n)",
    "tumbling, delta(n^)",
    "tumbling, delta(n ^5)",
    "tumbling, delta(n,^)",
    "tumbling, delta(p.^, 5)",
    "tumbling, delta(p.n^.x, 5)",
    "sliding, count(3)^(",
    "sliding, count(3),^",
    "sliding, count(3), ^;",
    "sliding, count(3), count(1),^")

  all("syntax: the port", Category.Syntax)(
    "window^",
    "window ^: tumbling, count(3)",
    "window ^, tumbling",
    "window p ^tumbling, count(3)",
    "p :^",
    "p : ^p : tumbling, count(3)",
    "^p tumbling, count(3)",
    "^`p` ; tumbling")

  all("syntax: partitions", Category.Syntax)(
    "tumbling, count(3), partitioned,^",
    "tumbling, count(3), partitioned ^partitionAge(3)",
    "tumbling, count(3), partitioned, partitionAge^",
    "tumbling, count(3), partitioned, partitionAge(3) ^partitionCount(3)",
    "tumbling, count(3), partitioned ^partitionBy : symbol",
    "tumbling, count(3), partitioned; ^partitionBy : symbol",
    "tumbling, count(3), partitioned; param^",
    "tumbling, count(3), partitioned; param ^partitionby : symbol",
    "tumbling, count(3), partitioned; param partitionBy^",
    "tumbling, count(3), partitioned; param partitionBy ^symbol",
    "tumbling, count(3), partitioned; param partitionBy :^",
    "tumbling, count(3), partitioned; param partitionBy : ^;",
    "tumbling, count(3), partitioned; param partitionBy : symbol,^",
    "tumbling, count(3), partitioned; param partitionBy : symbol ^venue;",
    "tumbling, count(3), partitioned; param partitionBy : symbol; ^param partitionBy : venue;",
    "tumbling, count(3), partitioned; param partitionBy : ^3;",
    "tumbling, count(3), partitioned; param partitionBy : ^\"symbol;")

  all("policy: a word where its policy may not stand, or that names none", Category.Policy)(
    "sliding, ^punct()",
    "tumbling, ^Count(3)",
    "tumbling, ^timeInterval(3)",
    "sliding, ^timeInterval(3)",
    "tumbling, ^partitioned",
    "tumbling, count(3), ^count(2)",
    "tumbling, punct(), ^time(2)",
    "tumbling, count(3), ^partitionAge(2)",
    "tumbling, count(3), ^please",
    "sliding, ^sliding, count(3)",
    "sliding, count(3), ^please",
    "sliding, count(3), ^partitionCount(2)",
    "sliding, count(3), count(2), ^count(1)",
    "sliding, count(3), count(2), ^punct()",
    "sliding, count(3), partitioned, ^count(2)",
    "sliding, count(3), partitioned, ^partitionSize(2)",
    "sliding, count(3), partitioned, ^partitioned")

  messages("policy: a word where its policy may not stand, or that names none")(
    "sliding, ^punct()" -> "expected count, time or delta",
    "tumbling, ^timeInterval(3)" -> "timeInterval is not supported")

  all("type: counts are whole, and texts no numbers", Category.Type)(
    "tumbling, count(^2.5)",
    "tumbling, count(^2.0)",
    "tumbling, count(2 * ^1.5)",
    "tumbling, count(^F)",
    "sliding, count(3), count(^1e1)",
    "tumbling, count(^T)",
    "tumbling, time(^T)",
    "tumbling, delta(n, ^T)",
    "tumbling, count(3), partitioned, partitionCount(^2.0); param partitionBy : symbol;",
    "tumbling, count(3), partitioned, tupleCount(^2.5); param partitionBy : symbol;")

  messages("type: counts are whole, and texts no numbers")(
    "tumbling, count(3), partitioned, partitionCount(^2.0)" -> "number of partitions",
    "tumbling, count(3), partitioned, tupleCount(^2.0)" -> "number of tuples")

  all("type: the attribute of a delta, and whole deltas of whole numbers", Category.Type)(
    "tumbling, delta(^symbol, 5)",
    "tumbling, delta(^mystery, 5)",
    "sliding, count(3), delta(p.^symbol, 5)",
    "tumbling, delta(n, ^0.5)",
    "tumbling, delta(n, ^5.5)",
    "tumbling, delta(n, ^F / 4)",
    "sliding, delta(`trade id`, ^1e-3)")

  messages("type: the attribute of a delta, and whole deltas of whole numbers")(
    "tumbling, delta(n, ^5.5)" -> "n holds whole numbers")

  all("range: sizes", Category.Range)(
    "tumbling, count(^0)",
    "tumbling, count(^Z)",
    "tumbling, count(^1000000000001)",
    "tumbling, count(3/^0)",
    "tumbling, time(^0)",
    "tumbling, time(^0.0)",
    "tumbling, time(^0.0000001)",
    "tumbling, time(^1.0/3)",
    "tumbling, time(^8640000000.5)",
    "sliding, count(3), time(^-1)",
    "tumbling, delta(price, ^-0.5)",
    "tumbling, delta(n, ^9223372036854775808)",
    "tumbling, delta(when, ^0.0000001)",
    "tumbling, delta(when, ^8640000001)",
    "tumbling, delta(price, ^1e65)",
    "tumbling, punct(), partitioned, partitionCount(^0); param partitionBy : symbol;",
    "tumbling, punct(), partitioned, tupleCount(^-5); param partitionBy : symbol;")

  all("unbound-parameter: a name without a value, also a column's", Category.UnboundParameter)(
    "tumbling, count(^M)",
    "tumbling, count(^n)",
    "tumbling, time(^seconds)",
    "sliding, delta(n, ^n)",
    "sliding, count(^count)")

  messages("unbound-parameter: a name without a value, also a column's")(
    "tumbling, count(^n)" -> "n is a column")

  all(
    "partition-key: partitioned without a key and a key without partitioned",
    Category.PartitionKey)(
    "tumbling, count(3), ^partitioned",
    "sliding, count(3), count(2), ^partitioned, partitionAge(10);",
    "tumbling, count(3) param ^partitionBy : symbol",
    "sliding, time(3), time(2); param ^partitionBy :")

  test("partition-key: a key in the text of a window that has groups by its call") {
    val grouped = scope.copy(isGrouped = true)
    val error = refused("tumbling, count(3); param ^partitionBy : symbol;", grouped)
    assert(error.category == Category.PartitionKey)
  }

  private val start = "tumbling, count(3), partitioned; param partitionBy : "

  all(
    "duplicate-column: an attribute again, also with the port's name or in quotes",
    Category.DuplicateColumn)(
    s"${start}symbol, venue, ^symbol",
    s"${start}p.symbol, p.^symbol",
    s"${start}symbol, ^`symbol`;")

  all("unknown-column: names are case-sensitive, and the message helps", Category.UnknownColumn)(
    "tumbling, delta(^N, 5)",
    "sliding, count(3), delta(p.^Price, 5)",
    "tumbling, punct(), partitioned; param partitionBy : symbol, ^Venue;")

  messages("unknown-column: names are case-sensitive, and the message helps")(
    "sliding, delta(^Price, 5)" -> "there is no Price: did you mean price?",
    "sliding, delta(^colour, 5)" -> "the columns are symbol, venue, n, price")

  all(
    "unknown-column: attributes stand behind the name of the port and no other",
    Category.UnknownColumn)(
    "window p : tumbling, delta(^q.n, 5)",
    "p : tumbling, punct(), partitioned; param partitionBy : p.symbol, ^q.venue;",
    "sliding, delta(p.n, 5), delta(^q.n, 5)",
    "tumbling, delta(p.n, 5), partitioned; param partitionBy : ^q.symbol;")

  messages("unknown-column: attributes stand behind the name of the port and no other")(
    "p : tumbling, delta(^q.n, 5)" -> "p before the dot, not q")

  private val colour = "tumbling, delta(colour, 5)"

  testEach("SPL-29: what needs the columns is reported last")(
    s"$colour, ^count(3)" -> Category.Policy,
    s"$colour ^count(3)" -> Category.Syntax,
    s"$colour, ^partitioned" -> Category.PartitionKey,
    "sliding, delta(colour, 5), count(^0)" -> Category.Range,
    "sliding, delta(n, ^-0.5)" -> Category.Range,
    s"$colour, partitioned; param partitionBy : hue, ^hue" -> Category.DuplicateColumn,
    "sliding, delta(n, ^0.5), partitioned; param partitionBy : hue" -> Category.Type,
    "sliding, delta(^colour, 5), delta(n, 0.5)" -> Category.UnknownColumn) {
    case (text, category) => assert(refused(text).category == category)
  }

  all("limit: length and depth", Category.Limit)(
    "tumbling, count(2)" + " " * 9982 + "^ ",
    s"tumbling, count(${"(" * 33}^2${")" * 33})",
    s"tumbling, time(${"-" * 33}^2)",
    s"tumbling, delta(n, ${"(" * 33}^${"(" * 4900}",
    s"tumbling, count(${"-" * 100000}".patch(10000, "^", 0))

  test("the example is valid whatever columns there are") {
    def example(marked: String, columns: String*)(kinds: (String, ColumnKind)*): String =
      refused(marked, Scope(columns = columns, kinds = kinds.toMap)).example
    val unknown = "tumbling, delta(^d, 5)"
    assert(example(unknown, "a b", "c")("c" -> ColumnKind.Other).endsWith(": `a b`;"))
    assert(example(unknown)() == "sliding, count(100), count(10)")
    val unfit = "tumbling, delta(^a, 5)"
    assert(example(unfit, "a", "b c")("b c" -> ColumnKind.RealNumber).contains("(`b c`, "))
    assert(example(unfit, "a")("a" -> ColumnKind.Other) == "sliding, count(100), count(10)")
    assert(refused("tumbling, count(3), ^partitioned").example.contains("partitionBy"))
  }
}
