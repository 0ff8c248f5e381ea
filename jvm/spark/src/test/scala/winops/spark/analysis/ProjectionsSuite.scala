package winops.spark.analysis

import org.scalatest.Assertion

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import winops.policy._
import winops.spark.expressions.OfLastArrival
import winops.spark.testing.{EvaluatedRows, ProjectedRows}
import winops.testing.TableTests
import winops.text.dialect.Problem
import winops.text.esper.Esper

/** The values that a policy computes from its rows. The expected numbers are Esper's for the same
  * rows.
  */
class ProjectionsSuite extends TableTests {
  import EvaluatedRows._
  import ProjectionsSuite._

  test("uni") {
    val names = Seq("datapoints", "total", "average", "variance", "stddev", "stddevpa")
    assert(namesOf("#uni(price)") == names)
    gives("#uni(price)", all)(
      "datapoints" -> 7L,
      "total" -> 95.0,
      "average" -> 13.571428571428571,
      "variance" -> 162.20238095238096,
      "stddev" -> 12.735869854563566,
      "stddevpa" -> 11.79112429944227)
    gives("#uni(price)", all.take(1))(
      "datapoints" -> 1L,
      "total" -> 10.0,
      "average" -> 10.0,
      "variance" -> Double.NaN,
      "stddev" -> Double.NaN,
      "stddevpa" -> 0.0)
    Seq(Nil, Seq(nullPrice)).foreach { rows =>
      gives("#uni(price)", rows)(
        "datapoints" -> 0L,
        "total" -> 0.0,
        "average" -> Double.NaN,
        "variance" -> Double.NaN,
        "stddev" -> Double.NaN,
        "stddevpa" -> Double.NaN)
    }
  }

  test("linest") {
    gives("#linest(price, volume)", all)(
      "slope" -> 0.08450704225352113,
      "YIntercept" -> 0.5657276995305165,
      "XAverage" -> 15.0,
      "XStandardDeviationPop" -> 12.162099599438687,
      "XStandardDeviationSample" -> 13.322912594474229,
      "XSum" -> 90.0,
      "XVariance" -> 177.5,
      "YAverage" -> 1.8333333333333333,
      "YStandardDeviationPop" -> 1.2133516482134197,
      "YStandardDeviationSample" -> 1.3291601358251257,
      "YSum" -> 11.0,
      "YVariance" -> 1.7666666666666664,
      "dataPoints" -> 6L,
      "n" -> 6L,
      "sumX" -> 90.0,
      "sumXSq" -> 2237.5,
      "sumXY" -> 240.0,
      "sumY" -> 11.0,
      "sumYSq" -> 29.0)
  }

  test("linest of no rows, of one, and of rows that are all alike in x") {
    val undefined = Seq("slope" -> Double.NaN, "YIntercept" -> Double.NaN)
    Seq(Nil, Seq(nullPrice, nullVolume)).foreach { rows =>
      val zeros = Seq("XSum", "YSum", "sumX", "sumXSq", "sumXY", "sumY", "sumYSq").map(_ -> 0.0)
      val counts = Seq("dataPoints" -> 0L, "n" -> 0L)
      val others = namesOf("#linest(price, volume)").diff((zeros ++ counts).map(_._1))
      gives("#linest(price, volume)", rows)(zeros ++ counts ++ others.map(_ -> Double.NaN): _*)
    }
    contains("#linest(price, volume)", all.take(1))(
      undefined ++ Seq(
        "XStandardDeviationPop" -> 0.0,
        "XStandardDeviationSample" -> Double.NaN,
        "XVariance" -> Double.NaN,
        "sumXSq" -> 100.0): _*)
    contains("#linest(price, volume)", Seq(trade(5.0, 2L), trade(5.0, 3L)))(
      undefined :+ ("YVariance" -> 0.5): _*)
    contains("#linest(price, volume)", Seq(trade(5.0, 2L), trade(6.0, 2L)))(
      "slope" -> 0.0,
      "YIntercept" -> 2.0)
  }

  test("correl") {
    gives("#correl(price, volume)", all.take(5))("correlation" -> 1.0)
    gives("#correl(price, volume)", all)("correlation" -> 0.8470611683386594)
    Seq(Nil, all.take(1), Seq(trade(5.0, 2L), trade(5.0, 3L)), Seq(nullPrice, nullVolume))
      .foreach(gives("#correl(price, volume)", _)("correlation" -> Double.NaN))
  }

  test("correl of numbers whose squares' product is too large for a double") {
    val rows = Seq(trade(1e120, 1L), trade(2e120, 2L), trade(4e120, 4L))
    gives("#correl(price, price * 10)", rows)("correlation" -> 1.0)
  }

  test("weighted_avg") {
    gives("#weighted_avg(price, volume)", all)("average" -> 21.818181818181817)
    Seq(Nil, Seq(trade(5.0, 0L)), Seq(nullPrice, nullVolume)).foreach {
      gives("#weighted_avg(price, volume)", _)("average" -> Double.NaN)
    }
  }

  test("size counts all rows") {
    gives("#size", all)("size" -> 8L)
    gives("#size", Nil)("size" -> 0L)
    assert(typesOf("#size") == Seq(LongType))
  }

  testEach("counts are longs, all other statistics doubles that are never NULL")(
    "#uni(i)",
    "#linest(dec, f)",
    "#correl(l, d)",
    "#weighted_avg(f, dec)") { text =>
    val computed = aggregates(text, numbers).columns
    val (counts, others) = computed.partition { column =>
      Set("datapoints", "dataPoints", "n")(column.name)
    }
    assert(counts.forall(_.dataType == LongType))
    assert(others.forall(_.dataType == DoubleType))
    assert(computed.forall(!_.nullable))
  }

  test("second moments keep their digits beside a large mean") {
    val rows = Seq(1e9, 1e9 + 1, 1e9 + 2).map(trade(_, 1L))
    contains("#uni(price)", rows)("variance" -> 1.0, "stddev" -> 1.0)
  }

  test("an error of arithmetic is none, whatever the session says") {
    Seq(true, false).foreach { ansi =>
      val conf = SQLConf.get.clone()
      conf.setConf(SQLConf.ANSI_ENABLED, ansi)
      SQLConf.withExistingConf(conf) {
        contains("#linest(price, volume)", Seq(trade(5.0, 2L)))("slope" -> Double.NaN)
        gives("#correl(price, volume)", Seq(trade(5.0, 2L)))("correlation" -> Double.NaN)
        gives("#weighted_avg(price, volume)", Seq(trade(5.0, 0L)))("average" -> Double.NaN)
      }
    }
  }

  test("beside a statistic stand columns of the row that came in last, also when it has left") {
    val text = "#size(symbol, price*2, *, symbol)"
    val expected = Seq("size", "symbol", "price*2", "id", "price", "volume", "ts")
    assert(namesOf(text) == expected)
    val gone = InternalRow(9L, EvaluatedRows.text("B"), 3.0, 5L, 1L)
    gives(text, all.take(2), Some(gone))(
      "size" -> 2L,
      "symbol" -> EvaluatedRows.text("B"),
      "price*2" -> 6.0,
      "id" -> 9L,
      "price" -> 3.0,
      "volume" -> 5L,
      "ts" -> 1L)
    gives("#size(symbol)", Nil)("size" -> 0L, "symbol" -> null)
    assert(aggregates("#size(symbol)", trades).columns.last.nullable)
  }

  test("a select list without keys") {
    val text = "select count(*), count(price) as c, min(price) as lo, max(price) as hi, " +
      "sum(volume) as v, sum(price) / count(price) as mean, count(distinct symbol) as s " +
      "from T#keepall"
    gives(text, all)(
      "count(*)" -> 8L,
      "c" -> 7L,
      "lo" -> 5.0,
      "hi" -> 40.0,
      "v" -> 14L,
      "mean" -> 95.0 / 7,
      "s" -> 1L)
    gives(text, Nil)(
      "count(*)" -> 0L,
      "c" -> 0L,
      "lo" -> null,
      "hi" -> null,
      "v" -> null,
      "mean" -> null,
      "s" -> 0L)
  }

  test("an aggregate with a condition is over the rows that fulfil it") {
    val text = "select sum(price, volume > 1) as s, count(*, price > 9) as c, " +
      "count(distinct volume, price < 30) as d, fmin(price, volume = 4) as lo, " +
      "avg(price, filter: volume in (0:2]) as m, sum(price, volume > 9) from T#keepall"
    assert(namesOf(text) == Seq("s", "c", "d", "lo", "m", "sum(price,volume>9)"))
    gives(text, all)(
      "s" -> 75.0,
      "c" -> 3L,
      "d" -> 3L,
      "lo" -> 40.0,
      "m" -> 11.25,
      "sum(price,volume>9)" -> null)
  }

  test("a select list with keys has one row for each") {
    val text = "select symbol, price > 9 as dear, count(*) as n, volume % 2 = 0 or price > 9 x " +
      "from T#keepall group by symbol, price > 9, volume % 2"
    val found = aggregates(text, trades)
    assert(found.by.map(_.toAttribute.name) == Seq("symbol", "`price` > 9", "`volume` % 2"))
    val rows = new ProjectedRows(found, trades).of(all.take(3) ++ all.drop(5), None)
    val a = EvaluatedRows.text("A")
    assert(
      rows == Seq(
        Map[String, Any]("symbol" -> a, "dear" -> true, "n" -> 1L, "x" -> true),
        Map[String, Any]("symbol" -> a, "dear" -> true, "n" -> 2L, "x" -> true),
        Map[String, Any]("symbol" -> a, "dear" -> false, "n" -> 3L, "x" -> true)))
  }

  test("a key within an aggregate stays a column of the row") {
    val found = aggregates("select price, sum(price) s from T#keepall group by price", trades)
    val aggregate = aggregatesIn(found).head
    assert(aggregate.references.subsetOf(AttributeSet(trades)))
    assert(found.columns.forall(_.resolved))
  }

  testEach("what comes out is made of aggregates, keys and the last row alone")(
    "#linest(price, volume, symbol, *)",
    "select symbol, upper(symbol) || count(*) as x from T#keepall group by symbol",
    "select sum(price) filter from T#keepall") { text =>
    val found = aggregates(text, trades)
    val keys = AttributeSet(found.by.map(_.toAttribute))
    def isClosed(part: Expression): Boolean = part match {
      case _: AggregateExpression | _: OfLastArrival =>
        part.references.subsetOf(columnsOfTrades)
      case column: Attribute => keys.contains(column)
      case other => other.children.forall(isClosed)
    }
    assert(found.columns.flatMap(_.children).forall(isClosed))
  }

  test("every example of the dialect has a meaning") {
    val columns = Seq(
      AttributeReference("symbol", StringType)(),
      AttributeReference("price", DoubleType)(),
      AttributeReference("ts", TimestampType)())
    val examples = Esper.windows.filter { window =>
      Esper.parse(window.text, scope(columns)).exists(_.projection.isDefined)
    }
    assert(examples.size == 7)
    examples.foreach { window =>
      assert(projected(window.text, columns).exists(_.columns.nonEmpty), window.text)
    }
  }

  test("refused: what is no number") {
    refused("#uni(symbol || 'x')", Category.Type, 5, "expected a number, not STRING")
    refused("#correl(price, price > 3)", Category.Type, 15, "expected a number, not BOOLEAN")
  }

  test("refused: aggregates where a row stands alone") {
    refused("#uni(sum(price))", Category.Unsupported, 5, "no aggregate here")
    refused("#size(price, count(*))", Category.Unsupported, 13, "no aggregate here")
    refused(
      "select count(*) from T#keepall group by sum(price)",
      Category.Unsupported,
      40,
      "no aggregate here")
  }

  test("refused: columns beside a statistic that are called as its values are") {
    val columns = trades :+ AttributeReference("total", DoubleType)()
    refused("#uni(price, total)", Category.DuplicateColumn, 12, "name total", columns)
    refused("#uni(price, *)", Category.DuplicateColumn, 12, "name total", columns)
    assert(aggregates("#size(total, *)", columns).columns.size == 7)
  }

  test("refused: a list without aggregates") {
    refused("select upper(symbol) from T#keepall", Category.Unsupported, 7, "expected an aggreg")
  }

  test("refused: a column beside aggregates that is no key") {
    refused(
      "select count(*), price from T#keepall group by symbol",
      Category.Unsupported,
      17,
      "an aggregate or a key of group by, which price is not")
    refused(
      "select count(*) + volume from T#keepall",
      Category.Unsupported,
      7,
      "which volume is not")
    refused(
      "select count(*), price from T#keepall group by price + 1",
      Category.Unsupported,
      17,
      "which price is not")
  }

  test("refused: functions that there are not, and aggregates in aggregates") {
    refused("select nosuch(price) from T#keepall", Category.Unsupported, 7, "nosuch is none")
    refused("select sum(count(*)) from T#keepall", Category.Type, 7, "Spark says")
  }

  test("refused: keys that cannot be compared") {
    val columns = trades :+ AttributeReference("m", MapType(StringType, LongType))()
    val said = "compared for equality"
    refused("select count(*) from T#keepall group by m", Category.Type, 40, said, columns)
    refused("select count(distinct m) from T#keepall", Category.Type, 7, said, columns)
  }

  private def gives(text: String, rows: Seq[InternalRow], last: Option[InternalRow] = None)(
      expected: (String, Any)*): Assertion = {
    assert(found(text, rows, last).keySet == expected.map(_._1).toSet)
    compared(text, found(text, rows, last), expected)
  }

  /** Checks some of the columns, otherwise as `gives`. */
  private def contains(text: String, rows: Seq[InternalRow])(
      expected: (String, Any)*): Assertion =
    compared(text, found(text, rows, None), expected)

  private def compared(
      text: String,
      values: Map[String, Any],
      expected: Seq[(String, Any)]): Assertion = {
    val wrong = expected.filterNot { case (name, value) => isClose(values(name), value) }
    assert(wrong.isEmpty, s"$text gave $values")
  }

  private def isClose(found: Any, expected: Any): Boolean = (found, expected) match {
    case (found: Double, expected: Double) =>
      found.equals(expected) || math.abs(found - expected) <= 1e-9 * math.abs(expected)
    case _ => found == expected
  }

  private def refused(
      text: String,
      category: Category,
      offset: Int,
      message: String,
      columns: Seq[Attribute] = trades): Assertion = {
    projected(text, columns) match {
      case Left(problem) =>
        assert(problem.category == category, s"$text: $problem")
        assert(problem.offset == offset, s"$text: $problem")
        assert(problem.message.contains(message), s"$text: $problem")
      case Right(found) => fail(s"$text was resolved to $found")
    }
  }
}

private object ProjectionsSuite {
  import EvaluatedRows._

  private val columnsOfTrades = AttributeSet(trades)

  private def trade(price: Any, volume: Any): InternalRow =
    InternalRow(1L, EvaluatedRows.text("A"), price, volume, 0L)

  private val nullPrice = trade(null, 3L)
  private val nullVolume = trade(5.0, null)

  private val all =
    Seq(trade(10.0, 1L), trade(20.0, 2L), trade(40.0, 4L), nullPrice, nullVolume) ++
      Seq(trade(5.0, 0L), trade(7.5, 2L), trade(7.5, 2L))

  private val numbers = Seq(
    AttributeReference("i", IntegerType)(),
    AttributeReference("l", LongType)(),
    AttributeReference("f", FloatType)(),
    AttributeReference("d", DoubleType)(),
    AttributeReference("dec", DecimalType(20, 4))())

  private def scope(columns: Seq[Attribute]): Scope = Scope(columns = columns.map(_.name))

  private def projected(text: String, columns: Seq[Attribute]): Either[Problem, Aggregates] = {
    val policy = Esper
      .parse(text, scope(columns))
      .fold(error => throw new IllegalArgumentException(s"$text: ${error.message}"), identity)
    Projections.resolve(policy.projection.get, columns)
  }

  private def aggregates(text: String, columns: Seq[Attribute]): Aggregates =
    projected(text, columns)
      .fold(problem => throw new IllegalArgumentException(s"$text: $problem"), identity)

  private def aggregatesIn(found: Aggregates): Seq[AggregateExpression] =
    found.columns.flatMap(_.collect { case aggregate: AggregateExpression => aggregate })

  private def namesOf(text: String): Seq[String] = aggregates(text, trades).columns.map(_.name)

  private def typesOf(text: String): Seq[DataType] =
    aggregates(text, trades).columns.map(_.dataType)

  private def found(
      text: String,
      rows: Seq[InternalRow],
      last: Option[InternalRow]): Map[String, Any] =
    new ProjectedRows(aggregates(text, trades), trades).of(rows, last) match {
      case Seq(values) => values
      case several => throw new IllegalArgumentException(s"$text: $several")
    }
}
