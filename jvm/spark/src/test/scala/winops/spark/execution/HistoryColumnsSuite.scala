package winops.spark.execution

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}

import winops.spark.testing.{KeepStreamTest, Tick}
import winops.withHistory

/** Columns of tables before streams: each value of the table is one of the stream's column. */
class HistoryColumnsSuite extends KeepStreamTest {
  import testImplicits._

  private val call = "PARTITION BY (k) ORDER BY (n), 'KEEP 10 ROWS', time => 'ts'"

  /** The stream with a column after a table with another one.
    *
    * @param shape
    *   the operators between `with_history` and `keep`
    */
  private def started(
      ofTable: String,
      ofStream: String,
      shape: DataFrame => DataFrame = identity): Seq[Row] = {
    val stream = ticks()
    stream.addData(Tick("a", 100, 2), Tick("b", 200, 3))
    val table = withTime(Seq(Tick("a", 1, 1)).toDF()).selectExpr("k", "ts", "n", ofTable)
    val input = timed(stream).selectExpr("k", "ts", "n", ofStream)
    var rows = Seq.empty[Row]
    withTempDir { checkpoint =>
      val query = keep(shape(withHistory(input, table, "all")), call)
      rows = runAll(query, checkpoint.getCanonicalPath).rows
    }
    rows.filter(_.getAs[String]("k") == "a").sortBy(_.getAs[Long]("_change_seq"))
  }

  private def valuesOf(rows: Seq[Row]): Seq[String] =
    rows.map(row => String.valueOf(row.getAs[Any]("v")))

  private def assertRefused(ofTable: String, ofStream: String, advice: String): Unit =
    withClue(s"$ofTable before $ofStream: ") {
      val error = intercept[AnalysisException](started(s"$ofTable AS v", s"$ofStream AS v"))
      assert(error.getCondition == "WINOPS_HISTORY_COLUMN")
      assert(error.getMessage.contains(advice))
    }

  test("fields of structs in another order are refused at every depth") {
    val (one, other) = ("struct(n AS x, n * 10 AS y)", "struct(n * 10 AS y, n AS x)")
    Seq[String => String](
      s => s,
      s => s"array($s)",
      s => s"map('key', $s)",
      s => s"struct($s AS inner)").foreach { nested =>
      assertRefused(nested(one), nested(other), "named_struct")
    }
    assertRefused(one, "struct(n AS x, n * 10 AS z)", "named_struct")
  }

  test("a type in which values of the table are lost is refused") {
    Seq(
      "bigint" -> "double",
      "int" -> "float",
      "array<bigint>" -> "array<float>",
      "decimal(20, 0)" -> "bigint",
      "timestamp" -> "bigint",
      "timestamp" -> "timestamp_ntz").foreach { case (ofTable, ofStream) =>
      assertRefused(
        s"CAST(NULL AS $ofTable)",
        s"CAST(NULL AS $ofStream)",
        s"Cast the column of the table to ${ofStream.toUpperCase}")
    }
    val wider = started("CAST(n AS short) AS v", "CAST(n AS double) AS v")
    assert(valuesOf(wider) == Seq("1.0", "2.0"))
  }

  test("NULLs of the table are in the stream's columns that declare none") {
    Seq(
      ("CAST(NULL AS int)", "n", "null", "2"),
      ("array('x', CAST(NULL AS string))", "array('y')", "ArraySeq(x, null)", "ArraySeq(y)"),
      ("map(1, CAST(NULL AS int))", "map(1, 2)", "Map(1 -> null)", "Map(1 -> 2)"),
      ("struct(CAST(NULL AS int) AS x)", "struct(n AS x)", "[null]", "[2]"),
      ("array('x')", "array('y', nullif('z', 'z'))", "ArraySeq(x)", "ArraySeq(y, null)"),
      (
        "array(struct(nullif(n, n) AS x))",
        "array(struct(n AS x))",
        "ArraySeq([null])",
        "ArraySeq([2])"))
      .foreach { case (ofTable, ofStream, before, after) =>
        withClue(s"$ofTable before $ofStream: ") {
          val rows = started(s"$ofTable AS v", s"$ofStream AS v")
          assert(valuesOf(rows) == Seq(before, after))
        }
      }
  }

  test("expressions between the table and keep see the NULLs of the table") {
    def over(expression: String): DataFrame => DataFrame =
      _.selectExpr("k", "ts", "n", s"$expression AS v")
    val array = "array(1, nullif(n, n)) AS w" -> "array(n) AS w"
    val number = "nullif(n, n) AS w" -> "n AS w"
    Seq(
      (array, "transform(w, x -> x IS NULL)", "ArraySeq(false, true)", "ArraySeq(false)"),
      (array, "w[size(w) - 1] IS NULL", "true", "false"),
      (array, "CAST(w AS array<bigint>)", "ArraySeq(1, null)", "ArraySeq(2)"),
      (number, "w IS NULL", "true", "false"),
      (number, "array(w)", "ArraySeq(null)", "ArraySeq(2)"),
      (number, "transform(array(w), x -> coalesce(x, 7))", "ArraySeq(7)", "ArraySeq(2)"))
      .foreach { case ((ofTable, ofStream), expression, before, after) =>
        withClue(s"$expression of $ofTable before $ofStream: ") {
          assert(valuesOf(started(ofTable, ofStream, over(expression))) == Seq(before, after))
        }
      }
    // Columns that the stream's DataFrame has declared without NULLs.
    val named = started(
      array._1,
      array._2,
      df =>
        df.select(
          $"k",
          $"ts",
          $"n",
          org.apache.spark.sql.functions.transform(df("w"), _.isNull).as("v")))
    assert(valuesOf(named) == Seq("ArraySeq(false, true)", "ArraySeq(false)"))
  }

  test("window functions see the NULLs of the table") {
    val stream = ticks()
    stream.addData(Tick("a", 100, 2), Tick("b", 200, 3))
    val table = withTime(Seq(Tick("a", 1, 1)).toDF())
      .selectExpr("k", "ts", "CAST(NULL AS int) AS n", "array(nullif(n, n)) AS w")
    val input = timed(stream).selectExpr("k", "ts", "n", "array(n) AS w")
    withHistory(input, table, "all").createOrReplaceTempView("started")
    val functions = spark.sql(
      "SELECT k, ts, n, lag(n, 1, 7) OVER (PARTITION BY k ORDER BY ts) AS before, count(n) OVER w AS known, " +
        "first_value(w[0]) OVER w AS first FROM started " +
        "WINDOW w AS (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING)")
    withTempDir { checkpoint =>
      val rows = runAll(functions, checkpoint.getCanonicalPath).rows
      val ofA =
        rows.filter(_.getAs[String]("k") == "a").sortBy(_.getAs[java.sql.Timestamp]("ts").getTime)
      assert(ofA.map(_.toSeq.drop(2).mkString(" ")) == Seq("null 7 0 null", "2 null 1 null"))
    }
  }
}
