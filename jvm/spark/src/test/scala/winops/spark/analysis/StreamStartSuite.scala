package winops.spark.analysis

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.Trigger

import winops.spark.over.OverSettings
import winops.spark.testing.{KeepStreamTest, Tick}
import winops.testing.TableTests

/** Output modes and triggers that a query with `keep` refuses before it starts. */
class StreamStartSuite extends KeepStreamTest with TableTests {
  private def kept: DataFrame = keep(ticks().toDF(), "PARTITION BY (k), 'KEEP 2 ROWS'")

  // The console sink is one of the few sinks that support all triggers.
  private def refusal(df: DataFrame, mode: String, trigger: Trigger): AnalysisException =
    intercept[AnalysisException] {
      df.writeStream.format("console").outputMode(mode).trigger(trigger).start().stop()
    }

  private val soon = Trigger.ProcessingTime(0)

  Seq("complete", "update").foreach { mode =>
    test(s"output mode $mode is refused") {
      val error = refusal(kept, mode, soon)
      assert(error.getCondition == "WINOPS_OUTPUT_MODE")
      assert(error.getMessageParameters.get("mode").toLowerCase == mode)
    }
  }

  test("continuous triggers are refused") {
    assert(refusal(kept, "append", Trigger.Continuous(1000)).getCondition == "WINOPS_TRIGGER")
  }

  // These versions are on Maven. RealTimeSuite tests the mode itself.
  Seq("append", "update").foreach { mode =>
    test(s"a real-time trigger with output mode $mode is refused before Spark 4.3") {
      val error = refusal(kept, mode, Trigger.RealTime(60000))
      assert(error.getCondition == "WINOPS_REAL_TIME.SPARK_VERSION")
      assert(error.getMessage.contains("Spark 4.3"))
    }
  }

  test("an aggregation behind keep without a watermark is reported which column carries it") {
    val changes = keep(timed(ticks()), "PARTITION BY (k), 'KEEP 1 ROW', time => 'ts'")
    Seq("window(ts, '4 seconds')", "k").foreach { group =>
      val error = refusal(changes.groupBy(expr(group)).count(), "append", soon)
      assert(error.getCondition == "WINOPS_WATERMARK_COLUMN")
      assert(error.getMessageParameters.get("below") == "keep(..., time='ts')")
    }
    changes
      .groupBy(expr("window(_change_time, '4 seconds')"))
      .count()
      .writeStream
      .format("noop")
      .start()
      .stop()
    // Without a time column there is no watermark, and Spark refuses the query.
    val untimed =
      refusal(keep(ticks().toDF(), ", 'KEEP 1 ROW'").groupBy("k").count(), "append", soon)
    assert(!untimed.getCondition.startsWith("WINOPS"))
  }

  private val byOrder = Window.partitionBy("k").orderBy("ts", "n")

  test("operators that need a watermark speak of the operator that they are over") {
    val next = timed(ticks()).withColumn("next", lead("n", 1).over(byOrder))
    val before = timed(ticks()).withColumn("before", lag("n", 1).over(byOrder))
    val batch = keep(
      timed(ticks()).drop("extra"),
      "PARTITION BY (k), esper => '#length_batch(3)', time => 'ts', output => 'withColumns', " +
        "aggregates => TABLE(SELECT sum(n) AS s FROM input_of_keep)")
    val other = timed(ticks()).selectExpr("k AS k2", "ts AS ts2")
    val near = expr("k = k2 AND ts2 BETWEEN ts - INTERVAL 1 SECOND AND ts")
    def operators(df: DataFrame): Map[String, DataFrame] = Map(
      "aggregation" -> df.groupBy("k").count(),
      "dropDuplicatesWithinWatermark" -> df.dropDuplicatesWithinWatermark("k"),
      "JOIN" -> other.join(df, near, "left"))
    operators(next).foreach { case (name, df) =>
      val error = refusal(df, "append", soon)
      assert(error.getCondition == "WINOPS_WATERMARK_LOST", name)
      assert(error.getMessage.contains(name))
      assert(error.getMessage.contains("lead or FOLLOWING"))
      assert(!error.getMessage.contains("_change_time") && !error.getMessage.contains("inserts"))
    }
    operators(batch).foreach { case (name, df) =>
      val error = refusal(df, "append", soon)
      assert(error.getCondition == "WINOPS_WATERMARK_LOST", name)
      assert(error.getMessage.contains("_change_time") && !error.getMessage.contains("lead"))
    }
    operators(before.drop("ts").withColumn("ts", current_timestamp())).foreach {
      case (name, df) =>
        val error = refusal(df, "append", soon)
        assert(error.getCondition == "WINOPS_WATERMARK_COLUMN", name)
        assert(error.getMessageParameters.get("below") == "OVER (... ORDER BY ts ...)")
        assert(error.getMessageParameters.get("carrier") == "ts")
    }
  }

  test("a second watermark is refused, and no advice leads to it") {
    val rows = timed(ticks())
    val next = rows.withColumn("next", lead("n", 1).over(byOrder))
    val before = rows.withColumn("before", lag("n", 1).over(byOrder))
    val changes = keep(rows, "PARTITION BY (k), 'KEEP 1 ROW', time => 'ts'")
    val counts = rows.groupBy(window(col("ts"), "1 second"), col("k")).count()
    def again(df: DataFrame): Seq[DataFrame] = {
      val twice = df.withWatermark("ts", "1 minute")
      Seq(
        twice,
        twice.groupBy(window(col("ts"), "1 minute")).count(),
        twice.withColumn("m", lag("n", 1).over(byOrder)),
        keep(twice.select("k", "ts", "n"), "PARTITION BY (k), 'KEEP 1 ROW', time => 'ts'"))
    }
    val expected = Seq(
      next -> "behind lead or FOLLOWING: write the rows to a table",
      before -> "The column with the watermark is ts: use it",
      changes -> "The column with the watermark is _change_time: use it",
      changes.drop("_change_time") -> "Select the column _change_time too")
    for ((df, advice) <- expected; larger <- again(df)) {
      val error = refusal(larger, "append", soon)
      assert(error.getCondition == "WINOPS_WATERMARK_REDEFINED")
      assert(error.getMessageParameters.get("column") == "ts")
      assert(error.getMessage.contains(advice))
    }
    val ended = counts.selectExpr("k", "window.end AS ts", "count AS n")
    val endedTwice =
      ended.withWatermark("ts", "1 second").withColumn("m", lag("n", 1).over(byOrder))
    assert(refusal(endedTwice, "append", soon).getCondition == "WINOPS_WATERMARK_REDEFINED")
    // Rows that have a watermark on another column must not get a second one.
    Seq(next, changes, changes.drop("_change_time")).foreach { df =>
      val error = intercept[AnalysisException] {
        keep(
          df.select(
            df.columns
              .diff(Seq("_change_type", "_change_step", "_change_seq"))
              .map(col)
              .toIndexedSeq: _*),
          "PARTITION BY (k), 'KEEP 1 ROW', time => 'ts'")
      }
      assert(error.getCondition == "WINOPS_WATERMARK_REQUIRED")
      assert(!error.getMessage.contains("Call withWatermark"))
    }
  }

  test("errors of writers and of the end of input speak of the call") {
    withSQLConf(OverSettings.AtEnd -> "flush") {
      val before = timed(ticks()).withColumn("before", lag("n", 1).over(byOrder))
      assert(refusal(before, "update", soon).getMessage.contains("query with window functions"))
      assert(
        refusal(before, "append", Trigger.Continuous(1000)).getMessage
          .contains("query with window functions"))
      val endless = refusal(before, "append", soon)
      assert(endless.getCondition == "WINOPS_AT_END")
      assert(endless.getMessage.contains(OverSettings.AtEnd))
      assert(!endless.getMessage.contains("at_end"))
    }
    val flushed =
      keep(timed(ticks()), "PARTITION BY (k), 'KEEP 1 ROW', time => 'ts', at_end => 'flush'")
    assert(refusal(flushed, "update", soon).getMessage.contains("query with keep does"))
    val endless = refusal(flushed, "append", soon)
    assert(endless.getMessage.contains("at_end"))
    assert(!endless.getMessage.contains("spark.winops.over"))
  }

  test("a flush above a join that holds rows back is refused, others are not") {
    def joined(condition: String, kind: String): DataFrame = timed(ticks())
      .as("a")
      .join(
        timed(ticks()).selectExpr("k AS k2", "ts AS ts2", "n AS n2"),
        expr(s"a.k = k2 AND $condition"),
        kind)
      .select("k", "ts", "n")
    def above(rows: DataFrame): Seq[DataFrame] = Seq(
      rows.withColumn("before", lag("n", 1).over(byOrder)),
      rows
        .select("k", "ts", "n")
        .dropDuplicates("k", "ts", "n")
        .withColumn("m", lag("n", 1).over(byOrder)),
      keep(rows, "PARTITION BY (k) ORDER BY (n), 'KEEP 1 ROW', time => 'ts', at_end => 'flush'"))
    withSQLConf(OverSettings.AtEnd -> "flush") {
      val interval = "ts2 BETWEEN ts - INTERVAL 2 SECONDS AND ts + INTERVAL 2 SECONDS"
      val held = Seq(
        joined(interval, "inner"),
        joined(interval, "left"),
        joined("ts2 >= ts", "inner"),
        joined("ts2 = ts", "left"),
        joined("ts2 = ts", "right").withColumn("ts", col("ts")))
      for (rows <- held; df <- above(rows)) {
        val error = refusal(df, "append", Trigger.AvailableNow())
        assert(error.getCondition == "WINOPS_AT_END")
        assert(error.getMessage.contains("JOIN below"))
      }
      val all = Seq(
        joined("ts2 = ts", "inner"),
        joined("ts2 = ts", "leftsemi"),
        joined("n2 = n", "inner"),
        timed(ticks()).crossJoin(timed(ticks()).selectExpr("ts AS ts2")).where("ts = ts2"))
      for (rows <- all; df <- above(rows)) {
        withTempDir { checkpoint =>
          df.writeStream
            .format("noop")
            .option("checkpointLocation", checkpoint.getCanonicalPath)
            .trigger(Trigger.AvailableNow())
            .start()
            .stop()
        }
      }
    }
  }

  test("a reference to the rows before keep does not bring back their watermark") {
    val rows = timed(ticks())
    Seq(
      keep(rows, "PARTITION BY (k), 'KEEP 1 ROW', time => 'ts'"),
      rows.withColumn("next", lead("n", 1).over(byOrder))).foreach { output =>
      Seq(
        output.groupBy(window(rows("ts"), "4 seconds")).count(),
        output.select(rows("ts"), output("k")).dropDuplicates("k", "ts")).foreach { larger =>
        val error = refusal(larger, "append", soon)
        assert(error.getCondition == "WINOPS_WATERMARK_REFERENCE")
        assert(error.getMessageParameters.get("column") == "ts")
      }
      output.filter(rows("ts").isNotNull).writeStream.format("noop").start().stop()
    }
  }

  test("what hides keep in a larger query changes nothing") {
    withTempView("kept") {
      kept.createOrReplaceTempView("kept")
      val larger = spark.sql(
        "WITH c AS (SELECT * FROM kept) SELECT k, _change_seq FROM c WHERE _change_seq > 1")
      assert(refusal(larger, "update", soon).getCondition == "WINOPS_OUTPUT_MODE")
      assert(refusal(larger.union(larger), "complete", soon).getCondition == "WINOPS_OUTPUT_MODE")
    }
  }

  testEach(
    "a keep over a table may be joined into a stream of any output mode and trigger",
    short = 1)("update", "complete") { mode =>
    import testImplicits._
    val table = Seq(("a", 1L), ("a", 2L), ("b", 3L)).toDF("k", "m")
    val newest = keep(table, "PARTITION BY (k) ORDER BY (m), 'KEEP 1 ROW', output => 'rows'")
    val stream = ticks()
    val joined = stream.toDF().join(newest, "k").groupBy("k").agg(sum("m").as("total"))
    val query =
      joined.writeStream.format("memory").queryName(s"joined_$mode").outputMode(mode).start()
    try {
      stream.addData(Tick("a", 0, 1), Tick("b", 0, 2), Tick("a", 0, 3))
      query.processAllAvailable()
    } finally query.stop()
    checkAnswer(spark.table(s"joined_$mode"), Seq(Row("a", 4L), Row("b", 3L)))
    val beside = keep(ticks().toDF(), "PARTITION BY (k), 'KEEP 2 ROWS'").join(newest, "k")
    assert(refusal(beside, "update", soon).getCondition == "WINOPS_OUTPUT_MODE")
  }

  test("a query without keep is none of our business") {
    ticks().toDF().writeStream.format("noop").outputMode("update").start().stop()
  }
}
