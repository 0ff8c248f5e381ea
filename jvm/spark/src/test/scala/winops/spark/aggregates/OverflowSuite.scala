package winops.spark.aggregates

import org.apache.spark.sql.{DataFrame, Row}

import winops.spark.testing.{CompiledCode, KeepStreamTest, Tick}
import winops.testing.Longer

/** Aggregates whose values overflow their type. The result is NULL, a wrapped number or an error,
  * as in Spark.
  */
class OverflowSuite extends KeepStreamTest with CompiledCode {
  import OverflowSuite._
  import testImplicits._

  private def rows(values: String): DataFrame =
    spark.sql(s"SELECT * FROM VALUES $values AS t(k, n, long, wide, fine)")

  /** Longs and decimals whose sums overflow in some windows of two or three rows and fit in
    * others.
    */
  private lazy val overflowing = rows(s"""
    ('max', 1, ${Long.MaxValue}, ${Greatest.map(decimal).mkString(", ")}), ('max', 2, 1L, 1, 1),
    ('max', 3, 1L, 1, 1), ('max', 4, 1L, 1, 1), ('max', 5, 1L, 1, 1),
    ('min', 1, ${-Long.MaxValue}, ${Greatest
      .map("-" + _)
      .map(decimal)
      .mkString(", ")}), ('min', 2, -3L, -1, -1),
    ('min', 3, NULL, NULL, NULL), ('min', 4, -1L, -1, -1),
    ('null', 1, NULL, NULL, NULL), ('null', 2, NULL, NULL, NULL)""")

  /** Sums of three rows fit; sums of more rows overflow. */
  private lazy val fitting = spark
    .range(1, 401)
    .selectExpr(
      "concat('k', id % 2) AS k",
      "id AS n",
      s"${Long.MaxValue / 3} AS long",
      s"${decimal("3" * 38)} AS wide",
      s"${decimal("3" * 28 + "." + "3" * 10)} AS fine")

  private def kept(df: DataFrame, names: Seq[String] = All): DataFrame = keep(
    df,
    "PARTITION BY (k) ORDER BY (n), 'KEEP 3 ROWS', output => 'withColumns', aggregates => " +
      s"TABLE(SELECT ${aggregates(names, "")} FROM input_of_keep GROUP BY k, n)")

  private def inWindows(df: DataFrame): DataFrame = {
    df.createOrReplaceTempView("plain")
    val window = "OVER (PARTITION BY k ORDER BY n ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"
    spark.sql(s"SELECT *, ${aggregates(All, window)} FROM plain")
  }

  private def aggregates(names: Seq[String], over: String): String =
    names.map(name => s"${Aggregates(name)} $over AS $name").mkString(", ")

  private def values(df: DataFrame): Set[Row] =
    df.select("k", "n", "a", "b", "c", "d", "e").collect().toSet

  test("overflow: without ANSI mode values are those of Spark's windows, NULL or wrapped") {
    withSQLConf("spark.sql.ansi.enabled" -> "false") {
      Seq(overflowing, fitting).foreach(df => assert(values(kept(df)) == values(inWindows(df))))
      assert(values(kept(overflowing)).count(_.isNullAt(3)) > 2)
    }
  }

  test("overflow: in ANSI mode it is an error, as in Spark's windows") {
    withSQLConf("spark.sql.ansi.enabled" -> "true") {
      // Spark has one condition for an overflow of a buffer, and another for an overflow of its
      // result.
      val overflows = "ARITHMETIC_OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE.*"
      Seq("a", "b", "c").foreach { name =>
        Seq(kept(overflowing, Seq(name)), inWindows(overflowing)).foreach { df =>
          val error = intercept[Exception](df.select(name).collect())
          assert(causeOf[ArithmeticException](error).isDefined, error)
          assert(conditionsOf(error).exists(_.matches(overflows)))
        }
      }
    }
  }

  test("overflow: rows that are not together in the window are never added up") {
    withSQLConf("spark.sql.ansi.enabled" -> "true") {
      assert(values(kept(fitting)) == values(inWindows(fitting)))
    }
  }

  /** Rows whose sums fit in each window of `count` rows if they are added oldest to newest, and
    * overflow in parts of the window.
    *
    * @param most
    *   approximately the greatest value
    */
  private def passing(count: Int, most: String, written: String => String): String = {
    val middle = count / 2
    val inMiddle = Seq(middle -> s"-$most", middle + 1 -> "-10").filter(_ => count > 10)
    val values = Seq(0 -> "-5", 1 -> "-5", 2 -> "-5", 3 -> most, 4 -> "1") ++ inMiddle
    values
      .map { case (row, value) => s"WHEN $row THEN ${written(value)}" }
      .mkString("CASE id ", " ", s" ELSE ${written("0")} END")
  }

  Seq(
    1000 -> "true",
    100 -> "false",
    3 -> "true",
    100 -> "true",
    3 -> "false",
    1000 -> "false").zipWithIndex.foreach { case ((count, ansi), i) =>
    test(
      s"overflow: a sum that fits oldest to newest is given, $count rows, ANSI = $ansi",
      Longer.unless(i < 2): _*) {
      withSQLConf("spark.sql.ansi.enabled" -> ansi) {
        val df = spark
          .range(0, count + 2L)
          .selectExpr(
            "id AS n",
            passing(count, Long.MaxValue.toString, value => s"${value}L") + " AS long",
            passing(count, "9" * 38, value => s"CAST('$value' AS DECIMAL(38, 0))") + " AS wide",
            passing(count, "106751991", value => s"INTERVAL '$value' DAY") + " AS span")
        df.createOrReplaceTempView("plain")
        val named = Passing.zipWithIndex.map { case (sum, i) => s"$sum AS v$i" }.mkString(", ")
        val frame = s"OVER (ORDER BY n ROWS BETWEEN ${count - 1} PRECEDING AND CURRENT ROW)"
        val expected = spark
          .sql(s"SELECT n, ${named.replace(" AS", s" $frame AS")} FROM plain")
          .collect()
          .toSet
        assert(!expected.last.anyNull)
        Seq(s"'KEEP $count ROWS'", s"esper => '#sort($count, n desc)'").foreach { window =>
          val got = keep(
            df,
            s"WITH SINGLE PARTITION ORDER BY (n), $window, output => 'withColumns', " +
              "aggregates => " +
              s"TABLE(SELECT n, $named FROM input_of_keep GROUP BY n)")
          val names = "n" +: Passing.indices.map(i => s"v$i")
          assert(got.select(names.map(got(_)): _*).collect().toSet == expected, window)
        }
      }
    }
  }

  test("overflow: in ANSI mode it fails a stream, which has emitted what came before") {
    withTempDir { dir =>
      val stream = ticks()
      def sums = keep(
        stream.toDF().select($"k", $"sec".as("long"), $"n"),
        "PARTITION BY (k), 'KEEP 3 ROWS', output => 'agg', " +
          "aggregates => TABLE(SELECT sum(long) AS a FROM input_of_keep)")
      stream.addData(Tick("a", Long.MaxValue, 1))
      val written = new Written
      withSQLConf("spark.sql.ansi.enabled" -> "true") {
        runAll(sums, dir.getCanonicalPath, written)
        stream.addData(Tick("a", 1, 2))
        assert(
          conditionsOf(failureOf(sums, dir.getCanonicalPath)).contains("ARITHMETIC_OVERFLOW"))
      }
      assert(written.rows.map(_.getAs[Long]("a")) == Seq(Long.MaxValue))
    }
  }
}

private object OverflowSuite {
  def decimal(digits: String): String =
    s"CAST('$digits' AS DECIMAL(38, ${if (digits.contains('.')) 10 else 0}))"

  /** The greatest decimals, without a fraction and with one of ten digits. */
  val Greatest: Seq[String] = Seq("9" * 38, "9" * 28 + "." + "9" * 10)

  val Aggregates: Map[String, String] = Map(
    "a" -> "sum(long)",
    "b" -> "sum(CAST(wide AS DECIMAL(38, 0)))",
    "c" -> "sum(CAST(fine AS DECIMAL(38, 10)))",
    "d" -> "max(fine)",
    "e" -> "avg(CAST(long AS DECIMAL(20, 0)))")

  val Passing: Seq[String] = Seq(
    "sum(long)",
    "try_sum(long)",
    "sum(wide)",
    "try_sum(wide)",
    "sum(span)",
    "try_sum(span)",
    "avg(span)",
    "try_avg(span)")

  val All: Seq[String] = Aggregates.keys.toSeq.sorted
}
