package winops.spark.aggregates

import java.io.File

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}

import winops.spark.over.OverSettings
import winops.spark.testing.{CompiledCode, KeepStreamTest, SameBits}
import winops.testing.{Longer, TableTests}

/** Large values that cancel each other out within blocks of rows: a sum that overflows from the
  * oldest row to the newest has the result of a table, on a stream too. So have functions whose
  * intermediate values are infinite.
  */
class CancelledOverflowSuite extends KeepStreamTest with TableTests {
  import CancelledOverflowSuite._

  private def rows: DataFrame = spark.range(Rows.toLong).selectExpr(Columns: _*)

  /** The results of a query over a stream that restarts after each micro-batch.
    *
    * @param starts
    *   the first row of each micro-batch, and the row after its last one
    */
  private def streamed(query: String, starts: Seq[(Int, Int)] = Starts): Seq[Row] = {
    val written = new Written
    withTempDir { dir =>
      val source = new File(dir, "source").getPath
      starts.foreach { case (from, until) =>
        rows
          .where(s"seq >= $from AND seq < $until")
          .coalesce(1)
          .write
          .mode("append")
          .parquet(source)
        withSQLConf(OverSettings.AtEnd -> (if (until == Rows) "flush" else "wait")) {
          spark.readStream
            .schema(rows.schema)
            .parquet(source)
            .withWatermark("ts", "0 seconds")
            .createOrReplaceTempView("input_of_keep")
          val running = spark
            .sql(query)
            .writeStream
            .option("checkpointLocation", new File(dir, "checkpoint").getPath)
            .trigger(Trigger.AvailableNow())
            .foreachBatch((batch: DataFrame, id: Long) => written.add(id, batch.collect().toSeq))
            .start()
          try running.awaitTermination()
          finally running.stop()
        }
      }
    }
    written.rows.sortBy(_.getInt(0))
  }

  private def onTable(query: String): Seq[Row] = {
    rows.createOrReplaceTempView("input_of_keep")
    spark.sql(query).collect().toSeq.sortBy(_.getInt(0))
  }

  private def over(frame: String, functions: Seq[String]): String = {
    val columns = functions.zipWithIndex.map { case (function, i) =>
      s"$function OVER (ORDER BY ${if (frame.startsWith("RANGE")) "ts" else "ts, seq"} $frame) AS c$i"
    }
    s"SELECT seq, ${columns.mkString(", ")} FROM input_of_keep"
  }

  private def kept(window: String, functions: Seq[String]): String = {
    val columns = functions.zipWithIndex.map { case (function, i) => s"$function AS c$i" }
    s"""SELECT seq, ${functions.indices.map(i => s"c$i").mkString(", ")} FROM keep(
      TABLE(input_of_keep) WITH SINGLE PARTITION ORDER BY (seq), $window, output => 'withColumns',
      aggregates => TABLE(SELECT ${columns.mkString(", ")} FROM input_of_keep
        GROUP BY ${rows.columns.mkString(", ")}))"""
  }

  private def check(got: Seq[Row], expected: Seq[Row], isSame: (Any, Any) => Boolean): Unit = {
    assert(got.map(_.getInt(0)) == expected.map(_.getInt(0)))
    val different = Functions.zipWithIndex.flatMap { case (function, i) =>
      got.zip(expected).collectFirst {
        case (a, b) if !isSame(a.get(i + 1), b.get(i + 1)) =>
          s"$function, row ${a.get(0)}: ${a.get(i + 1)}, expected ${b.get(i + 1)}"
      }
    }
    assert(different.isEmpty, different.mkString("\n", "\n", ""))
  }

  private def isClose(a: Any, b: Any): Boolean = (a, b) match {
    case (a: Double, b: Double) =>
      SameBits.same(a, b) || Math.abs(a - b) <= 1e-6 * Math.max(1.0, Math.abs(b))
    case _ => a == b
  }

  for ((frame, i) <- Frames.zipWithIndex)
    test(s"cancelled overflow: window functions, $frame", Longer.unless(i == 0): _*) {
      withSQLConf(CompiledWithoutAnsi: _*) {
        val query = over(frame, Functions)
        val expected = onTable(query)
        assert(Seq(1, 2).exists(i =>
          expected.exists(_.isNullAt(i)) && expected.exists(!_.isNullAt(i))))
        check(streamed(query), expected, isClose)
      }
    }

  for ((window, i) <- Windows.zipWithIndex)
    test(s"cancelled overflow: keep, $window", Longer.unless(i == 0): _*) {
      withSQLConf(CompiledWithoutAnsi: _*) {
        val table = onTable(kept(window, Functions))
        check(table, onTable(over("ROWS 50 PRECEDING", Functions)), isClose)
        check(streamed(kept(window, Functions)), table, SameBits.same)
      }
    }

  testEach("cancelled overflow: in ANSI mode it is an error", 2)(
    "sum(big)",
    "avg(months)",
    "sum(span)") { function =>
    withSQLConf("spark.sql.ansi.enabled" -> "true") {
      Seq(
        over("ROWS 50 PRECEDING", Seq(function)),
        kept("'KEEP 51 ROWS'", Seq(function)),
        kept("esper => '#sort(51, seq desc)'", Seq(function))).foreach { query =>
        val ofTable = intercept[Exception](onTable(query))
        assert(causeOf[ArithmeticException](ofTable).isDefined, query)
        // The first 50 rows do not overflow, so a restart restores them.
        val ofStream =
          intercept[StreamingQueryException](streamed(query, Seq(0 -> 50, 50 -> Rows)))
        assert(causeOf[ArithmeticException](ofStream).isDefined, query)
      }
    }
  }
}

private object CancelledOverflowSuite {
  private val Rows = 130
  private val Starts = Seq(0 -> 80, 80 -> Rows)

  /** Settings of the queries with all functions. To interpret them takes longer than to compile
    * them.
    */
  private val CompiledWithoutAnsi: Seq[(String, String)] =
    ("spark.sql.ansi.enabled" -> "false") +: CompiledCode.Compiled

  private val Sign = "IF(id % 4 IN (0, 3), -1, 1)"

  /** 1, 0 or -1 in an irregular order. */
  private val Some = "CAST(sign(hash(id) % 3) AS INT)"

  private val Columns = Seq(
    "CAST(id AS INT) AS seq",
    "timestamp_seconds(100 + id) AS ts",
    s"9000000000000000000 * $Sign AS big",
    s"5000000000000000000 * $Some AS some",
    s"CAST(9 * $Sign * 1e37BD AS DECIMAL(38, 0)) AS wide",
    s"CAST(4 * $Some * 1e27BD AS DECIMAL(38, 10)) AS fine",
    s"INTERVAL '100000000' DAY * $Sign AS span",
    s"INTERVAL '170000000' YEAR * $Sign AS months",
    s"1.7E308D * $Sign AS x",
    s"IF(id % 5 = 1, NULL, 9E307D * $Some) AS y",
    "IF(id = 60, 1E160D, IF(id < 60, 3.2E-5D, 7.1D)) AS spike",
    "IF(id % 3 = 0, NULL, IF(id = 61, -1E300D, CAST(id AS DOUBLE))) AS gap",
    s"IF(id = 62, DOUBLE('NaN'), 1E200D * $Some) AS nan",
    "IF(id IN (40, 90), DOUBLE('Infinity'), id * 0.5D) AS infinite")

  private val Frames = Seq(
    "ROWS BETWEEN 20 PRECEDING AND 30 FOLLOWING",
    "ROWS 50 PRECEDING",
    "ROWS BETWEEN 70 PRECEDING AND 30 PRECEDING",
    "RANGE INTERVAL 100 SECONDS PRECEDING",
    "ROWS UNBOUNDED PRECEDING")

  private val Windows = Seq("'KEEP 51 ROWS'", "esper => '#sort(51, seq desc)'")

  private val Functions = Seq(
    "try_sum(big)",
    "try_sum(some)",
    "try_avg(some)",
    "try_sum(wide)",
    "try_avg(wide)",
    "try_sum(fine)",
    "try_avg(fine)",
    "try_sum(span)",
    "try_avg(span)",
    "try_sum(months)",
    "try_avg(months)",
    "sum(CAST(big AS DECIMAL(28, 0)))") ++
    Seq("x", "y", "nan", "infinite").flatMap(column => Seq(s"sum($column)", s"avg($column)")) ++
    Seq("spike", "gap", "nan", "infinite").flatMap { column =>
      Seq("stddev", "var_pop", "variance", "skewness", "kurtosis").map(of => s"$of($column)") ++
        Seq(
          "covar_pop",
          "corr",
          "regr_slope",
          "regr_intercept",
          "regr_r2",
          "regr_sxy",
          "regr_syy")
          .map(of => s"$of($column, seq)")
    } ++ Seq("covar_samp(spike, gap)", "stddev(IF(seq > 55, spike, NULL))")
}
