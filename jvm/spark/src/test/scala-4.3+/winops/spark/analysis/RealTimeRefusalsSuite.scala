package winops.spark.analysis

import java.nio.file.Path

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}

import winops.spark.plan.RealTimeSettings
import winops.spark.testing.RealTimeTest
import winops.spark.testing.RealTimeTest.Event

/** Queries that real-time mode refuses before they start, each with what to use instead. */
class RealTimeRefusalsSuite extends RealTimeTest {
  private def begin(df: DataFrame, mode: String): Unit =
    df.writeStream
      .format("console")
      .outputMode(mode)
      .trigger(Trigger.RealTime("1 minute"))
      .start()
      .stop()

  private def refusal(df: DataFrame, mode: String = "update"): AnalysisException =
    intercept[AnalysisException](begin(df, mode))

  private def check(df: DataFrame, reason: String, remedy: String): Unit = {
    val error = refusal(df)
    assert(error.getCondition == s"WINOPS_REAL_TIME.$reason")
    assert(error.getMessage.contains(remedy))
  }

  private def withSetting(name: String, value: String)(body: => Unit): Unit = {
    val before = spark.conf.getOption(name)
    spark.conf.set(name, value)
    try body
    finally before.fold(spark.conf.unset(name))(spark.conf.set(name, _))
  }

  private def rows(body: DataFrame => Unit): Unit =
    inTempDir(folder => body(new Input(folder).rows))

  /** Rows with the time column `ts` and its watermark. */
  private def watermarked(input: DataFrame): DataFrame =
    input
      .selectExpr("k", "id", "timestamp_seconds(id) AS ts")
      .withWatermark("ts", "1 second")

  private val kept = "PARTITION BY (k) ORDER BY (id), 'KEEP 2 ROWS'"

  test("output modes other than update") {
    rows { input =>
      Seq("append", "complete").foreach { mode =>
        val error = refusal(keep(input, kept), mode)
        assert(error.getCondition == "WINOPS_REAL_TIME.OUTPUT_MODE")
        assert(error.getMessage.contains("outputMode('update')"))
        assert(error.getMessage.contains("outputMode('append') in micro-batches"))
      }
    }
  }

  test("rows that wait for the watermark") {
    rows { input =>
      val window =
        keep(watermarked(input), "PARTITION BY (k), 'KEEP 1 MINUTE', time => 'ts'")
      check(window, "EVENT_TIME", "apply => 'arrival'")
    }
  }

  test("rows that wait for the watermark before a window that does not use time") {
    rows { input =>
      val time = "'KEEP 2 ROWS', time => 'ts'"
      check(
        keep(watermarked(input), s"PARTITION BY (k), $time"),
        "EVENT_TIME",
        "omit time, and give order_by='column'")
      check(
        keep(watermarked(input), s"PARTITION BY (k) ORDER BY (id), $time"),
        "EVENT_TIME",
        "omit time. If")
    }
  }

  test("an error names the window") {
    rows { input =>
      val first = keep(input, kept).select("k", "id")
      val latest = "PARTITION BY (k) ORDER BY (id), 'KEEP 5 ROWS', output => 'agg', " +
        "mode => 'latest', aggregates => TABLE(SELECT sum(id) AS s FROM input_of_keep)"
      check(keep(first, latest), "LATEST", "A query with keep [KEEP 5 ROWS")
    }
  }

  test("cross-group windows") {
    rows { input =>
      val window = "spl => 'sliding, count(3), partitioned, partitionCount(2)'"
      val limited = keep(input, s"PARTITION BY (k) ORDER BY (id), $window")
      check(limited, "CROSS_GROUP", "groups are independent")
    }
  }

  test("the last values of a batch") {
    rows { input =>
      val latest = s"$kept, output => 'agg', mode => 'latest', " +
        "aggregates => TABLE(SELECT sum(id) AS s FROM input_of_keep)"
      check(keep(input, latest), "LATEST", "mode='all' or mode='changes'")
    }
  }

  test("waiting rows at the end") {
    rows { input =>
      val window = keep(
        watermarked(input),
        "PARTITION BY (k), 'KEEP 2 ROWS', time => 'ts', at_end => 'flush'")
      val error = refusal(window)
      assert(error.getCondition == "WINOPS_AT_END")
      assert(error.getMessage.contains("a query in real-time mode does not end"))
      assert(error.getMessage.contains("at_end='flush'"))
    }
  }

  test("a union of windows, which one task reads one after the other") {
    rows { a =>
      rows { b =>
        val united = keep(a, kept).union(keep(b, kept))
        check(united, "UNION", "one task reads the rows of the first side")
        check(keep(united.select("k", "id"), kept), "UNION", "Unite the rows before the window")
        check(
          keep(a.dropDuplicates("k").union(b.dropDuplicates("k")), kept),
          "UNION",
          "start a query for each side")
        check(
          keep(a.repartition(a("k")).union(b.repartition(b("k"))), kept),
          "UNION",
          "the window or the repartition")
      }
    }
  }

  test("a lookup of two inputs with state, which one task reads one after the other") {
    rows { a =>
      rows { b =>
        def of(windows: DataFrame, asking: DataFrame): DataFrame = {
          asking.createOrReplaceTempView("asks")
          keep(
            windows,
            s"$kept, output => 'lookup', lookup => TABLE(asks), " +
              "aggregates => TABLE(SELECT count(*) AS c FROM input_of_keep)")
        }
        check(
          of(keep(a, kept).select("k", "id"), keep(b, kept).select("k", "id")),
          "LOOKUP",
          "one task reads the rows of the windows")
        check(
          of(a.repartition(a("k")), b.repartition(b("k"))),
          "LOOKUP",
          "on one of the two sides")
      }
    }
  }

  test("a union below a window has tasks for each source") {
    inTempDir { folder =>
      val inputs = Seq("a", "b").map(side => new Input(folder.resolve(side), parts = 1))
      val united = inputs.map(_.rows).reduce(_.union(_))
      val query = start(keep(united, kept), folder, "united before", long)
      try {
        inputs.zipWithIndex.foreach { case (input, side) => input.add(Seq(Event(side, 1L))) }
        waitUntil(query)(received("united before").map(_.k).toSet == Set(0, 1))
      } finally query.stop()
    }
  }

  test("version 1 of the checkpoint format") {
    withSetting(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key, "1") {
      rows { input =>
        // Spark refuses the setting of the session itself, unless another one allows it.
        val error = intercept[Exception](begin(keep(input, kept), "update"))
        assert(error.getMessage.contains("checkpointFormatVersion"))
        val allows = "spark.sql.streaming.realTimeMode.dangerouslyAllowCheckpointV1.enabled"
        withSetting(allows, "true") {
          check(keep(input, kept), "CHECKPOINT_FORMAT", "with a new checkpoint")
        }
      }
    }
  }

  test("Spark's list of operators") {
    withSetting("spark.sql.streaming.realTimeMode.allowlistCheck", "true") {
      rows(input => check(keep(input, kept), "ALLOWLIST", "real_time=True), or set"))
    }
  }

  test("a setting without a meaning") {
    withSetting(RealTimeSettings.OpenGroups, "none") {
      rows(input => check(keep(input, kept), "SETTING", "a whole number above 0"))
    }
    Seq(RealTimeSettings.OnePartitionPerGroup, RealTimeSettings.PythonFunctions).foreach {
      setting =>
        withSetting(setting, "maybe") {
          rows(input => check(keep(input, kept), "SETTING", "true or false"))
        }
    }
  }

  private val long = Some("10 minutes")

  private def events(groups: Int): Seq[Event] =
    (0 until 2 * groups).map(i => Event(i % groups, i.toLong))

  /** The error of the first batch of a query. */
  private def failure(df: DataFrame, folder: Path, name: String): AnalysisException = {
    val query = start(df, folder, name, long)
    try {
      val error = intercept[StreamingQueryException](query.awaitTermination(60000))
      error.getCause match {
        case refused: AnalysisException => refused
        case other => fail(other)
      }
    } finally query.stop()
  }

  test("a source with several partitions, if the setting requires one for each group") {
    withSetting(RealTimeSettings.OnePartitionPerGroup, "true") {
      inTempDir { folder =>
        val error = failure(keep(new Input(folder, parts = 2).rows, kept), folder, "two parts")
        assert(error.getCondition == "WINOPS_REAL_TIME.SEVERAL_PARTITIONS")
        assert(error.getMessage.contains("2 partitions of the source"))
        assert(error.getMessage.contains(RealTimeSettings.OnePartitionPerGroup))
      }
    }
  }

  test("a window behind the tasks of another one, if the setting requires one partition") {
    withSetting(RealTimeSettings.OnePartitionPerGroup, "true") {
      inTempDir { folder =>
        val first = keep(new Input(folder, parts = 1).rows, kept).select("k", "id")
        val second = keep(first, "PARTITION BY (id % 2) ORDER BY (k), 'KEEP 2 ROWS'")
        val error = failure(second, folder, "chained")
        assert(error.getCondition == "WINOPS_REAL_TIME.SEVERAL_PARTITIONS")
        assert(error.getMessage.contains("2 partitions of another operator"))
      }
    }
  }

  test("rows that others deal to several tasks, if the setting requires one partition") {
    withSetting(RealTimeSettings.OnePartitionPerGroup, "true") {
      inTempDir { folder =>
        val dealt = new Input(folder, parts = 1).rows.repartition(3)
        val error = failure(keep(dealt, kept), folder, "dealt")
        assert(error.getCondition == "WINOPS_REAL_TIME.SEVERAL_PARTITIONS")
        assert(error.getMessage.contains("3 partitions of another operator"))
      }
    }
  }

  test("a source with one partition runs with that setting, and one with several without it") {
    Seq("true" -> 1, "false" -> 2).foreach { case (value, parts) =>
      withSetting(RealTimeSettings.OnePartitionPerGroup, value) {
        inTempDir { folder =>
          val input = new Input(folder, parts)
          val name = s"$parts parts"
          val query = start(keep(input.rows, kept), folder, name, long)
          try {
            input.add(events(groups = 4))
            waitUntil(query)(received(name).size >= 8)
          } finally query.stop()
        }
      }
    }
  }
}
