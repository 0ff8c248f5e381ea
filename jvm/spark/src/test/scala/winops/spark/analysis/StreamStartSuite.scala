package winops.spark.analysis

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions.{expr, lead, sum, window}
import org.apache.spark.sql.streaming.Trigger

import winops.spark.testing.{KeepStreamTest, Tick}

/** Output modes and triggers that a query with `keep` refuses before it starts. */
class StreamStartSuite extends KeepStreamTest {
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

  test("continuous and real-time triggers are refused") {
    assert(refusal(kept, "append", Trigger.Continuous(1000)).getCondition == "WINOPS_TRIGGER")
    assert(refusal(kept, "append", Trigger.RealTime(60000)).getCondition == "WINOPS_TRIGGER")
  }

  test("an aggregation behind keep without a watermark is reported which column carries it") {
    val changes = keep(timed(ticks()), "PARTITION BY (k), 'KEEP 1 ROW', time => 'ts'")
    Seq("window(ts, '4 seconds')", "k").foreach { group =>
      val error = refusal(changes.groupBy(expr(group)).count(), "append", soon)
      assert(error.getCondition == "WINOPS_WATERMARK_COLUMN")
      assert(error.getMessageParameters.get("time") == "ts")
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

  test("a reference to the rows before keep does not bring back their watermark") {
    val rows = timed(ticks())
    val byOrder = Window.partitionBy("k").orderBy("ts", "n")
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

  test("a keep over a table may be joined into a stream of any output mode and trigger") {
    import testImplicits._
    val table = Seq(("a", 1L), ("a", 2L), ("b", 3L)).toDF("k", "m")
    val newest = keep(table, "PARTITION BY (k) ORDER BY (m), 'KEEP 1 ROW', output => 'rows'")
    Seq("update", "complete").foreach { mode =>
      val stream = ticks()
      val joined = stream.toDF().join(newest, "k").groupBy("k").agg(sum("m").as("total"))
      val query =
        joined.writeStream.format("memory").queryName(s"joined_$mode").outputMode(mode).start()
      try {
        stream.addData(Tick("a", 0, 1), Tick("b", 0, 2), Tick("a", 0, 3))
        query.processAllAvailable()
      } finally query.stop()
      checkAnswer(spark.table(s"joined_$mode"), Seq(Row("a", 4L), Row("b", 3L)))
    }
    val beside = keep(ticks().toDF(), "PARTITION BY (k), 'KEEP 2 ROWS'").join(newest, "k")
    assert(refusal(beside, "update", soon).getCondition == "WINOPS_OUTPUT_MODE")
  }

  test("a query without keep is none of our business") {
    ticks().toDF().writeStream.format("noop").outputMode("update").start().stop()
  }
}
