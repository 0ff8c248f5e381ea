package winops.spark.expressions

import org.apache.spark.sql.{Column, Encoder, Encoders}
import org.apache.spark.sql.api.java.UDF1
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Project}
import org.apache.spark.sql.expressions.Aggregator
import org.apache.spark.sql.functions.{col, expr, udaf, udf}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.IntegerType

import winops.spark.plan.FramedFunction
import winops.spark.testing.{CompiledCode, KeepStreamTest}
import winops.testing.TableTests

/** Identities of expressions: equal for equal expressions of two starts, and for no others. */
class HiddenArgumentsSuite extends KeepStreamTest with CompiledCode with TableTests {
  import HiddenArgumentsSuite._

  private val columns = "seq INT, j STRING, arr ARRAY<INT>, brr ARRAY<INT>, m MAP<STRING, INT>"

  /** The identity of a resolved expression, as a new session would compute it. */
  private def identityOf(column: Column): String = {
    val table = spark.read.schema(columns).json(spark.emptyDataset(Encoders.STRING)).select("*")
    val plan = table.select(column.as("value")).queryExecution.optimizedPlan
    val value = plan.collectFirst {
      case Project(Seq(Alias(value, _)), _) => value
      case Aggregate(_, Seq(Alias(value, _)), _, _) => value
    }.get
    FramedFunction.identityOf(value, plan.children.head.output)
  }

  private def identityOf(text: String): String = identityOf(expr(text))

  // Expressions that are not equal, most of them with the same SQL in Spark.
  private val different: Seq[Seq[String]] = Seq(
    Seq("from_json(j, 'a INT').a", "from_json(j, 'a DOUBLE').a", "from_json(j, 'b INT').b"),
    Seq(
      "from_json(j, 'a STRING')",
      "from_json(j, 'a STRING', map('mode', 'FAILFAST'))",
      "from_json(j, 'a STRING', map('allowComments', 'true'))"),
    Seq("from_csv(j, 'a INT').a", "from_csv(j, 'a INT', map('sep', ';')).a"),
    Seq("from_csv(j, 'a INT')", "from_csv(j, 'a DOUBLE')"),
    Seq("from_xml(j, 'a INT')", "from_xml(j, 'a DOUBLE')"),
    Seq("to_json(struct(seq))", "to_json(struct(seq), map('ignoreNullFields', 'false'))"),
    Seq("to_csv(struct(seq))", "to_csv(struct(seq), map('sep', ';'))"),
    Seq(
      "variant_get(parse_json(j), '$.a', 'INT')",
      "variant_get(parse_json(j), '$.a', 'DOUBLE')",
      "try_variant_get(parse_json(j), '$.a', 'INT')"),
    Seq("zip_with(arr, brr, (x, y) -> x - y)", "zip_with(arr, brr, (x, y) -> y - x)"),
    Seq("transform(arr, (x, i) -> x - i)", "transform(arr, (x, i) -> i - x)"),
    Seq("aggregate(arr, 0, (a, x) -> a - x)", "aggregate(arr, 0, (a, x) -> x - a)"),
    Seq("array_sort(arr, (x, y) -> x - y)", "array_sort(arr, (x, y) -> y - x)"),
    Seq("map_filter(m, (k, v) -> k > v)", "map_filter(m, (k, v) -> v > k)"),
    Seq(
      "transform(arr, x -> transform(brr, y -> x - y))",
      "transform(arr, x -> transform(brr, y -> y - x))"),
    Seq("cast(j AS INT)", "try_cast(j AS INT)"),
    Seq("element_at(arr, 1)", "try_element_at(arr, 1)"),
    Seq("seq + 1", "try_add(seq, 1)"),
    Seq("sum(seq)", "try_sum(seq)"),
    Seq("first(seq)", "first(seq, true)"),
    Seq("approx_count_distinct(seq)", "approx_count_distinct(seq, 0.1)"))

  different.foreach { expressions =>
    test(s"different: ${expressions.mkString(", ")}") {
      val identities = expressions.map(identityOf)
      assert(identities.distinct.size == expressions.size, identities)
      assert(expressions.map(identityOf) == identities, "the same in another query")
    }
  }

  test("the names of lambda variables and columns' identifiers do not matter") {
    assert(
      identityOf("aggregate(arr, 0, (a, x) -> a - x)") ==
        identityOf("aggregate(arr, 0, (b, y) -> b - y)"))
  }

  testEach("an expression without hidden arguments has its SQL alone")(
    "seq + 1" -> "(seq + 1)",
    "sum(seq)" -> "sum(seq)",
    "avg(seq)" -> "avg(seq)",
    "stddev(seq)" -> "stddev_samp(CAST(seq AS DOUBLE)) true",
    "case when seq > 1 then 'a' else j end" -> "CASE WHEN (seq > 1) THEN 'a' ELSE j END",
    "cast(j AS INT)" -> "CAST(j AS INT)") { case (text, sql) =>
    assert(identityOf(text) == sql)
  }

  test("the text is the same for ever, because checkpoints hold it") {
    assert(identityOf("from_json(j, 'a INT').a") == "from_json(j).`a` arguments:64a06555c85e1944")
    assert(
      identityOf("transform(arr, (x, i) -> x - i)") ==
        "transform(arr, lambdafunction((x0 - x1), x0, x1)) arguments:4e6018e3c3b4df31")
  }

  test("the mode for errors matters where an expression depends on it") {
    def identities(isAnsi: Boolean): Seq[String] =
      withSQLConf(SQLConf.ANSI_ENABLED.key -> isAnsi.toString) {
        Seq("sum(seq)", "seq + 1", "cast(j AS INT)", "count(seq)", "coalesce(seq, 1)")
          .map(identityOf)
      }
    val same = identities(isAnsi = true).zip(identities(isAnsi = false)).map { case (a, b) =>
      a == b
    }
    assert(same == Seq(false, false, false, true, true))
  }

  test("functions of users are their class and what they hold") {
    def added(number: Int) = udf((value: Int) => value + number)
    def squared = udf((value: Int) => value * value)
    def java(number: Int) = udf(new Added(number), IntegerType)
    def summed(factor: Int) = udaf(new Summed(factor), Encoders.scalaInt)
    val all = Seq[Column => Column](
      added(1)(_),
      added(2)(_),
      squared(_),
      java(1)(_),
      java(2)(_),
      summed(1)(_),
      summed(2)(_)).map(function => identityOf(function(col("seq"))))
    assert(all.distinct.size == all.size, all)
    assert(identityOf(added(1)(col("seq"))) == all.head)
    assert(identityOf(java(2)(col("seq"))) == all(4))
    assert(identityOf(summed(2)(col("seq"))) == all.last)
  }

  test("a broadcast that a function holds counts for nothing: its number differs in each start") {
    def looking() = {
      val values = spark.sparkContext.broadcast(Map(1 -> 2))
      udf((value: Int) => values.value.getOrElse(value, 0))
    }
    assert(identityOf(looking()(col("seq"))) == identityOf(looking()(col("seq"))))
  }
}

private object HiddenArgumentsSuite {
  final class Added(number: Int) extends UDF1[Integer, Integer] {
    override def call(value: Integer): Integer = value + number
  }

  final class Summed(factor: Int) extends Aggregator[Int, Int, Int] {
    override def zero: Int = 0
    override def reduce(sum: Int, value: Int): Int = sum + value * factor
    override def merge(one: Int, other: Int): Int = one + other
    override def finish(sum: Int): Int = sum
    override def bufferEncoder: Encoder[Int] = Encoders.scalaInt
    override def outputEncoder: Encoder[Int] = Encoders.scalaInt
  }
}
