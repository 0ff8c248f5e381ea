package winops.spark.over

import org.apache.spark.sql.{Encoder, Encoders}
import org.apache.spark.sql.expressions.Aggregator
import org.apache.spark.sql.functions.{expr, udaf}

import winops.spark.testing.{CompiledCode, OneTask}

/** Window functions of Spark's own over a stream: the rows of the same query over a table. */
class OverSuite extends OverStreamTest with OneTask with CompiledCode {
  private val second = 1000000L

  /** Rows with ties in time, NULLs, and three groups of different sizes; three micro-batches, out
    * of order.
    */
  private val rows = (1 to 30).map { i =>
    Quote(
      "aaabbc".charAt(i % 6).toString,
      (i / 3) * second + 10 * second,
      i,
      if (i % 4 == 0) None else Some(i * 7 % 11),
      if (i % 5 == 0) None else Some(i * 0.1),
      if (i % 3 == 0) None else Some(s"s${i % 6}"))
  }

  private val runs =
    Seq(Seq(rows.slice(0, 9).reverse, rows.slice(9, 14)), Seq(rows.drop(14)))

  private def same(columns: String*): Unit = {
    def query = spark.sql(s"SELECT seq, ${columns.mkString(", ")} FROM $View")
    assertSameColumns(onStream(runs)(query), onTable(rows)(query), columns)
  }

  private val w = "PARTITION BY k ORDER BY ts, seq"
  private val t = "PARTITION BY k ORDER BY ts"

  // Functions of one order share their rows and wait for the one that waits longest: those that
  // follow the current row are in queries of their own.

  test("ROWS n PRECEDING, and ROWS up to the current row") {
    same(
      s"avg(x) OVER ($w ROWS 3 PRECEDING)",
      s"sum(n) OVER ($w ROWS 3 PRECEDING)",
      s"count(n) OVER ($w ROWS BETWEEN 4 PRECEDING AND 2 PRECEDING)",
      s"sum(n) OVER ($w ROWS UNBOUNDED PRECEDING)",
      s"max(s) OVER ($w ROWS UNBOUNDED PRECEDING)")
  }

  test("ROWS between two distances") {
    same(
      s"sum(x) OVER ($w ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING)",
      s"min(s) OVER ($w ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING)")
  }

  test("RANGE with an interval") {
    same(
      s"sum(n) OVER ($t RANGE INTERVAL 2 SECONDS PRECEDING)",
      s"count(*) OVER ($t RANGE BETWEEN INTERVAL 3 SECONDS PRECEDING AND INTERVAL 1 SECOND PRECEDING)")
    same(
      s"count(n) OVER ($t RANGE BETWEEN CURRENT ROW AND INTERVAL 2 SECONDS FOLLOWING)",
      s"count(n) OVER ($t RANGE BETWEEN CURRENT ROW AND CURRENT ROW)")
  }

  test("RANGE up to the current row") {
    same(s"sum(n) OVER ($t)", s"count(*) OVER ($t)", s"avg(x) OVER ($t)")
  }

  test("functions of positions") {
    same(
      // The two ranks of one operator have one SQL.
      s"rank() OVER ($t)",
      s"rank() OVER ($w)",
      s"dense_rank() OVER ($w)",
      s"dense_rank() OVER ($t)",
      s"row_number() OVER ($w)",
      s"lag(n) OVER ($w)",
      s"lag(n, 2, -1) OVER ($w)",
      s"lag(s, 3, k) OVER ($w)",
      s"first_value(n) OVER ($w)",
      s"last_value(s) OVER ($w)",
      s"nth_value(n, 3) OVER ($w)",
      s"nth_value(n, 2) IGNORE NULLS OVER ($w ROWS 3 PRECEDING)",
      s"last_value(n) IGNORE NULLS OVER ($w ROWS 2 PRECEDING)")
    same(
      s"lead(n) OVER ($w)",
      s"lead(x, 2, 0.5D) OVER ($w)",
      s"lag(n, 2) IGNORE NULLS OVER ($w)",
      s"lead(n, 2, seq) IGNORE NULLS OVER ($w)")
  }

  test("functions that walk over rows") {
    same(
      s"collect_list(n) OVER ($w)",
      s"percentile(x, 0.5D) OVER ($w ROWS 4 PRECEDING)",
      s"mode(s) OVER ($w)",
      s"max_by(n, x) OVER ($w ROWS 2 PRECEDING)",
      s"approx_count_distinct(n) OVER ($w)")
  }

  test("expressions around and inside, several windows, and a filter above") {
    same(
      s"x - avg(x * 2 + n) OVER ($w ROWS 3 PRECEDING) AS d",
      s"n + row_number() OVER ($w) AS m",
      s"sum(n) OVER ($w)",
      s"sum(n) OVER (PARTITION BY s ORDER BY ts, seq)",
      s"count(*) OVER (ORDER BY ts, seq)")
    def first = spark.sql(
      s"SELECT * FROM (SELECT k, seq, row_number() OVER ($w) AS r FROM $View) WHERE r <= 3")
    assertSameRows(onStream(runs)(first), onTable(rows)(first), "first rows")
  }

  test("OVER of OVER with a WITH clause, and a join with itself") {
    def common = spark.sql(s"""WITH t AS (
      SELECT *, lag(n) OVER ($w) AS p, avg(x) OVER ($w ROWS 2 PRECEDING) AS m FROM $View)
      SELECT k, seq, p, sum(p) OVER ($w ROWS 2 PRECEDING), max(m) OVER ($w) FROM t
      WHERE n > 2 AND m IS NOT NULL""")
    assertSameRows(onStream(runs)(common), onTable(rows)(common), "WITH")
    def joined = {
      val means = spark.sql(s"SELECT k, seq, avg(x) OVER ($w ROWS 2 PRECEDING) AS m FROM $View")
      means
        .as("a")
        .join(means.as("b"), expr("a.k = b.k AND a.seq = b.seq"))
        .select("a.k", "a.seq", "a.m", "b.m")
    }
    assertSameRows(onStream(runs)(joined), onTable(rows)(joined), "join")
  }

  test("aggregators of the user, one of them with a buffer that is NULL without rows") {
    spark.udf.register("longest", udaf(OverSuite.Longest))
    spark.udf.register("counted", udaf(OverSuite.Counted))
    same(
      s"longest(s) OVER ($w)",
      s"longest(s) OVER ($w ROWS 3 PRECEDING)",
      s"counted(s) OVER ($w)",
      s"counted(s) OVER ($w ROWS 3 PRECEDING)",
      s"counted(s) OVER ($w ROWS 40 PRECEDING)")
  }
}

private object OverSuite {
  final case class Number(n: Long)

  /** The number of texts; NULL without any. */
  object Counted extends Aggregator[String, Number, java.lang.Long] {
    override def zero: Number = null
    override def reduce(before: Number, text: String): Number =
      if (text == null) before else merge(before, Number(1))
    override def merge(one: Number, other: Number): Number =
      if (one == null) other else if (other == null) one else Number(one.n + other.n)
    override def finish(all: Number): java.lang.Long = if (all == null) null else all.n
    override def bufferEncoder: Encoder[Number] = Encoders.product[Number]
    override def outputEncoder: Encoder[java.lang.Long] = Encoders.LONG
  }

  /** The longest text. */
  object Longest extends Aggregator[String, String, String] {
    override def zero: String = ""
    override def reduce(longest: String, text: String): String = merge(longest, text)
    override def merge(one: String, other: String): String =
      if (other != null && other.length > one.length) other else one
    override def finish(longest: String): String = longest
    override def bufferEncoder: Encoder[String] = Encoders.STRING
    override def outputEncoder: Encoder[String] = Encoders.STRING
  }
}
