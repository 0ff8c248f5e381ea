package winops.spark.execution

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.functions.{expr, transform}

import winops.spark.testing.{KeepStreamTest, Tick}
import winops.testing.TableTests
import winops.withHistory

/** Columns of tables before streams: each value of the table is one of the stream's column. */
class HistoryColumnsSuite extends KeepStreamTest with TableTests {
  import testImplicits._

  private val call = "PARTITION BY (k) ORDER BY (n), 'KEEP 10 ROWS', time => 'ts'"

  /** The stream with some columns after a table with others.
    *
    * @param shape
    *   the operators between `with_history` and `keep`
    */
  private def started(
      ofTable: Seq[String],
      ofStream: Seq[String],
      shape: DataFrame => DataFrame = identity): Seq[Row] = {
    val stream = ticks()
    stream.addData(Tick("a", 100, 2), Tick("b", 200, 3))
    def withColumns(rows: DataFrame, columns: Seq[String]) =
      rows.selectExpr(Seq("k", "ts", "n") ++ columns: _*)
    val table = withColumns(withTime(Seq(Tick("a", 1, 1)).toDF()), ofTable)
    val input = withColumns(timed(stream), ofStream)
    var rows = Seq.empty[Row]
    withTempDir { checkpoint =>
      val query = keep(shape(withHistory(input, table, "all")), call)
      rows = runAll(query, checkpoint.getCanonicalPath).rows
    }
    rows.filter(_.getAs[String]("k") == "a").sortBy(_.getAs[Long]("_change_seq"))
  }

  private def startedOf(ofTable: String, ofStream: String): Seq[Row] =
    started(Seq(s"$ofTable AS v"), Seq(s"$ofStream AS v"))

  private def valuesOf(rows: Seq[Row], column: String = "v"): Seq[String] =
    rows.map(row => String.valueOf(row.getAs[Any](column)))

  private def assertRefused(ofTable: String, ofStream: String, advice: String): Unit =
    withClue(s"$ofTable before $ofStream: ") {
      val error = intercept[AnalysisException](startedOf(ofTable, ofStream))
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
    val wider = startedOf("CAST(n AS short)", "CAST(n AS double)")
    assert(valuesOf(wider) == Seq("1.0", "2.0"))
  }

  testEach("NULLs of the table are in the stream's columns that declare none", short = 2)(
    ("CAST(NULL AS int)", "n", "null", "2"),
    (
      "array(struct(nullif(n, n) AS x))",
      "array(struct(n AS x))",
      "ArraySeq([null])",
      "ArraySeq([2])"),
    ("array('x', CAST(NULL AS string))", "array('y')", "ArraySeq(x, null)", "ArraySeq(y)"),
    ("map(1, CAST(NULL AS int))", "map(1, 2)", "Map(1 -> null)", "Map(1 -> 2)"),
    ("struct(CAST(NULL AS int) AS x)", "struct(n AS x)", "[null]", "[2]"),
    ("array('x')", "array('y', nullif('z', 'z'))", "ArraySeq(x)", "ArraySeq(y, null)")) {
    case (ofTable, ofStream, before, after) =>
      assert(valuesOf(startedOf(ofTable, ofStream)) == Seq(before, after))
  }

  test("expressions between the table and keep see the NULLs of the table") {
    val cases = Seq(
      ("transform(w, x -> x IS NULL)", "ArraySeq(false, true)", "ArraySeq(false)"),
      ("w[size(w) - 1] IS NULL", "true", "false"),
      ("CAST(w AS array<bigint>)", "ArraySeq(1, null)", "ArraySeq(2)"),
      ("m IS NULL", "true", "false"),
      ("array(m)", "ArraySeq(null)", "ArraySeq(2)"),
      ("transform(array(m), x -> coalesce(x, 7))", "ArraySeq(7)", "ArraySeq(2)"))
    val expressions = cases.zipWithIndex.map { case ((expression, _, _), i) =>
      s"$expression AS v$i"
    }
    val rows = started(
      Seq("array(1, nullif(n, n)) AS w", "nullif(n, n) AS m"),
      Seq("array(n) AS w", "n AS m"),
      df => {
        // The stream's DataFrame has declared its column without NULLs.
        val named = transform(df("w"), _.isNull).as("named")
        df.select(Seq($"k", $"ts", $"n", named) ++ expressions.map(expr): _*)
      })
    cases.zipWithIndex.foreach { case ((expression, before, after), i) =>
      assert(valuesOf(rows, s"v$i") == Seq(before, after), expression)
    }
    assert(valuesOf(rows, "named") == Seq("ArraySeq(false, true)", "ArraySeq(false)"))
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
