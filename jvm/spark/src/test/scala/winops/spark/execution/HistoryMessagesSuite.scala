package winops.spark.execution

import org.apache.logging.log4j.Level

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.count
import org.apache.spark.sql.winops.execution.StatefulKeepExec

import winops.spark.ReadHistory
import winops.spark.restart.RestartSettings
import winops.spark.testing.{KeepStreamTest, Tick}
import winops.testing.TableTests
import winops.withHistory

/** The errors, warnings and plans of streams that start with a table, and of restarts that need
  * one.
  */
class HistoryMessagesSuite extends KeepStreamTest with TableTests {
  import testImplicits._

  private val history = Seq(Tick("a", 100, 1), Tick("b", 101, 2), Tick("a", 102, 3))
  private val timed = "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS', time => 'ts'"
  private val descending = "PARTITION BY (k) ORDER BY (n DESC), 'KEEP 2 ROWS', time => 'ts'"
  private val untimed = "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS'"

  private def table: DataFrame = withTime(history.toDF())

  private def stream(rows: Tick*): (MemoryStream[Tick], DataFrame) = {
    val source = ticks()
    source.addData(rows)
    (source, timed(source))
  }

  /** The warnings of winops' own classes. */
  private def warningsOf(body: => Any): Seq[String] = {
    val appender = new LogAppender("warnings of a table")
    val loggers =
      Seq(ReadHistory.getClass.getName.stripSuffix("$"), classOf[StatefulKeepExec].getName)
    withLogAppender(appender, loggers, Some(Level.WARN))(body)
    appender.loggingEvents.map(_.getMessage.getFormattedMessage).toSeq
  }

  private def becauseOf(plan: Seq[Row]): String = plan.head.getAs[String]("because")

  testEach[(String, DataFrame => DataFrame)](
    "a first micro-batch that has begun with a table does not run without it",
    short = 2)(
    "no table" -> (keep(_, timed)),
    "an operator of Spark" -> (_.dropDuplicates("k", "ts")),
    "no keep" -> identity) { case (_, without) =>
    inTempDir { checkpoint =>
      val (_, input) = stream(Tick("a", 103, 4), Tick("c", 110, 5))
      failAtSink(keep(withHistory(input, table), timed), checkpoint)
      val error = failureOf(without(input), checkpoint)
      assert(conditionsOf(error).contains("WINOPS_HISTORY_MISSING"))
      Seq("with_history(stream, table)", "new checkpoint", checkpoint)
        .foreach(text => assert(error.getMessage.contains(text)))
      val rows = runAll(keep(withHistory(input, table), timed), checkpoint).rows
      assert(rows.map(_.getAs[Long]("_change_seq")).min == 2)
      // The micro-batch is committed: the table may be left out.
      assert(runAll(keep(input, timed), checkpoint).rows.isEmpty)
    }
  }

  test("of several tables, none may be left out before the first commit") {
    val (_, input) = stream(Tick("a", 103, 4), Tick("c", 110, 5))
    def union(one: DataFrame, other: DataFrame): DataFrame =
      keep(one, timed).union(keep(other, timed))
    inTempDir { checkpoint =>
      val warm = withHistory(input, table)
      failAtSink(union(warm, warm), checkpoint)
      assert(
        conditionsOf(failureOf(union(warm, input), checkpoint))
          .contains("WINOPS_HISTORY_MISSING"))
      assert(runAll(union(warm, warm), checkpoint).rows.nonEmpty)
    }
  }

  test("a restart warns once that it ignores the table, and the plan says it") {
    inTempDir { checkpoint =>
      val (source, input) = stream(Tick("a", 103, 4))
      val warm = keep(withHistory(input, table), timed)
      assert(warningsOf(runAll(warm, checkpoint)).isEmpty)
      assert(
        becauseOf(restartPlanOf(warm, checkpoint)).contains("table of with_history is not read"))
      assert(!becauseOf(restartPlanOf(keep(input, timed), checkpoint)).contains("with_history"))
      source.addData(Tick("a", 104, 5))
      val carried = keep(
        withHistory(input, table),
        "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS SLACK 2', time => 'ts'")
      assert(
        becauseOf(restartPlanOf(carried, checkpoint)).contains(
          "table of with_history is not read"))
      val warnings = warningsOf(runAll(warm, checkpoint))
      assert(warnings.count(_.contains("does not read the table of with_history")) == 1)
      source.addData(Tick("a", 105, 6))
      assert(
        !warningsOf(runAll(keep(input, timed), checkpoint)).exists(_.contains("with_history")))
    }
  }

  testEach(
    "a restart that reads a table warns of how many rows it has, and up to which time",
    short = 1)(timed -> true, untimed -> false) { case (call, hasTime) =>
    inTempDir { checkpoint =>
      val (source, input) = stream(history: _*)
      runAll(keep(input, call), checkpoint)
      source.addData(Tick("a", 110, 9))
      val now = keep(withHistory(input, table), call.replace("(n)", "(n DESC)"))
      val warnings = warningsOf(runAll(now, checkpoint)).filter(_.contains("rows of the table"))
      // The last row waits, and is not read from the table.
      val rows = if (hasTime) 2 else 3
      assert(warnings.size == 1 && warnings.head.contains(s"$rows rows of the table"), warnings)
      assert(warnings.head.contains(":41") == hasTime, warnings)
    }
  }

  /** The warnings of rows that overlap with the table, of a query over some micro-batches.
    *
    * @param runs
    *   the micro-batches of each run of the query
    */
  private def overlaps(runs: Seq[Seq[Tick]]*): Seq[String] = inTempDir { checkpoint =>
    val source = ticks()
    val input = withTime(source.toDF()).withWatermark("ts", "5 seconds")
    warningsOf {
      runs.foreach { batches =>
        val query = start(keep(withHistory(input, table), timed), checkpoint, new Written)
        try {
          batches.foreach { batch =>
            source.addData(batch)
            query.processAllAvailable()
          }
        } finally query.stop()
      }
    }.filter(_.contains("dropped as late"))
  }

  // The watermark of the table is 97, and no row waits after its end, 102.
  private val within = Seq(Tick("a", 100, 4), Tick("b", 101, 5))
  private val old = Seq(Tick("a", 90, 6), Tick("b", 91, 7), Tick("c", 92, 8))
  private val after = Seq(Tick("a", 200, 9))

  test("rows of the stream that overlap with the table are warned of once") {
    assert(overlaps(Seq(within, within, after, old)).isEmpty)
    val warnings = overlaps(Seq(within, old, old))
    assert(warnings.size == 1, warnings)
    assert(warnings.head.startsWith("3 rows of the stream in micro-batch 1 are older"))
  }

  test("rows that overlap with the table are warned of in each run") {
    val warnings = overlaps(Seq(old, old), Seq(old, old))
    assert(warnings.size == 2, warnings)
    assert(warnings.head.startsWith("3 rows of the stream in micro-batch 0 are older"))
    assert(warnings.last.contains("micro-batch 2"))
  }

  private def placeOf(df: => DataFrame): String = {
    val error = intercept[AnalysisException](inTempDir(runAll(df, _)))
    assert(error.getCondition == "WINOPS_HISTORY_PLACE")
    error.getMessage
  }

  test("the operator above with_history is named") {
    val (_, input) = stream(Tick("a", 103, 4))
    def warm = withHistory(input, table)
    assert(placeOf(warm.groupBy("k").agg(count("*"))).contains("Aggregate is above with_history"))
    assert(placeOf(warm.select("k", "ts")).contains("no keep and no window functions"))
    val distinct = warm.select("k", "n", "ts").dropDuplicates("n")
    assert(placeOf(keep(distinct, timed)).contains("Deduplicate is above with_history"))
    val union = warm.select("k", "n", "ts").union(input.select("k", "n", "ts"))
    assert(placeOf(keep(union, timed)).contains("Union is above with_history"))
  }

  /** Applies `keep` to a query over the view `warm`, a stream with history. */
  private def overWarm(input: DataFrame, query: String): DataFrame = {
    Seq("a" -> 1).toDF("k", "least").createOrReplaceTempView("chosen")
    withHistory(input, table).createOrReplaceTempView("warm")
    keep(spark.sql(query), timed)
  }

  testEach("a correlated subquery above with_history is refused")(
    "SELECT k, ts, n FROM warm WHERE EXISTS (SELECT * FROM chosen WHERE chosen.k = warm.k)" ->
      "Filter",
    "SELECT k, ts, n FROM warm WHERE n > (SELECT max(least) FROM chosen WHERE chosen.k = warm.k)" ->
      "Filter",
    "SELECT k, ts, n FROM warm WHERE n IN (SELECT n FROM chosen WHERE chosen.k = warm.k)" ->
      "Filter",
    "SELECT k, ts, n, (SELECT max(least) FROM chosen WHERE chosen.k = warm.k) AS m FROM warm" ->
      "Project") { case (query, operator) =>
    val (_, input) = stream(Tick("a", 103, 4))
    val message = placeOf(overWarm(input, query))
    assert(message.contains(s"$operator with a correlated subquery is above"))
  }

  test("another subquery above with_history is one of the table and of the stream") {
    val (_, input) = stream(Tick("a", 103, 4), Tick("b", 104, 5), Tick("a", 110, 6))
    inTempDir { checkpoint =>
      val query = "SELECT k, ts, n FROM warm WHERE k IN (SELECT k FROM chosen)"
      val rows = runAll(overWarm(input, query), checkpoint).rows
      assert(rows.forall(_.getAs[String]("k") == "a"))
      // The table has two rows of the group before it.
      assert(rows.map(_.getAs[Long]("_change_seq")) == Seq(2, 3))
    }
  }

  test("a stream with history that is read as a table says how to start it") {
    withTempDir { folder =>
      val path = s"${folder.getCanonicalPath}/rows"
      table.write.parquet(path)
      val files = spark.readStream.schema(table.schema).parquet(path)
      val (source, input) = stream(Tick("a", 103, 4))
      Seq(files, withTime(source.toDF()), input).foreach { rows =>
        Seq[() => Any](
          () => withHistory(rows, table).show(),
          () => withHistory(rows, table).count()).foreach { read =>
          // Spark finds most of these streams itself.
          val error = intercept[AnalysisException](read())
          assert(error.getMessage.contains("writeStream"))
        }
      }
    }
  }

  test("a stream as the table is refused by the place of the argument") {
    val (_, input) = stream()
    val error = intercept[AnalysisException](withHistory(input, input))
    assert(error.getCondition == "WINOPS_ARGUMENT.VALUE")
    assert(error.getMessage.contains("The second argument of with_history has a value"))
    input.createOrReplaceTempView("stream_as_table")
    val ofKeep = intercept[AnalysisException] {
      keep(input, s"$timed, history => TABLE(stream_as_table)")
    }
    assert(ofKeep.getMessage.contains("history has a value"))
  }

  test("a source that may have other rows is named with what it reads") {
    val (_, input) = stream(Tick("a", 103, 4))
    val source = "org.apache.spark.sql.sources.SimpleScanSource"
    val scan = spark.read.format(source).option("from", "1").option("to", "3").load()
    val rows = scan.selectExpr("'a' AS k", "timestamp_seconds(i) AS ts", "i AS n")
    def messageOf(table: DataFrame): String = {
      val error = intercept[AnalysisException] {
        inTempDir(runAll(keep(withHistory(input, table), timed), _))
      }
      assert(error.getCondition == "WINOPS_HISTORY_SOURCE")
      error.getMessage
    }
    assert(messageOf(rows).contains("the source SimpleScan(1,3)"))
    assert(messageOf(table.sample(0.5)).contains("the operator Sample"))
    assert(messageOf(table.where("rand(3) < 2")).contains("the expression rand(3)"))
  }

  test("a column of another type is not said to have no values") {
    val (_, input) = stream()
    val error = intercept[AnalysisException] {
      withHistory(input, table.selectExpr("k", "ts", "CAST(n AS decimal(10, 2)) AS n"))
    }
    assert(error.getCondition == "WINOPS_HISTORY_COLUMN")
    assert(!error.getMessage.contains("has no values"))
    assert(error.getMessage.contains("cannot be filled from the table of with_history"))
  }

  test("a checkpoint without a commit says that there is none") {
    inTempDir { checkpoint =>
      val (_, input) = stream(Tick("a", 103, 4))
      failAtSink(keep(input, timed), checkpoint)
      val error = intercept[AnalysisException](restartPlanOf(keep(input, timed), checkpoint))
      assert(error.getCondition == "WINOPS_CHECKPOINT_BATCH")
      assert(error.getMessage.contains("has no committed micro-batch"))
      assert(!error.getMessage.contains("none"))
    }
  }

  test("what is no plan is not asked for again") {
    inTempDir { checkpoint =>
      val (source, input) = stream(Tick("a", 103, 4))
      runAll(keep(input, timed), checkpoint)
      source.addData(Tick("a", 104, 5))
      val wider = keep(input.withColumn("more", $"n"), timed)
      val plan = restartPlanOf(wider, checkpoint).head.getAs[String]("plan")
      withSQLConf(RestartSettings.Confirm -> "true", RestartSettings.Plan -> s"abc, $plan-") {
        val error = failureOf(wider, checkpoint)
        assert(error.getMessage.contains(s"set ${RestartSettings.Plan} to $plan."))
      }
      val other = "0123456789abcdef"
      withSQLConf(RestartSettings.Confirm -> "true", RestartSettings.Plan -> other) {
        val error = failureOf(wider, checkpoint)
        assert(error.getMessage.contains(s"$other,$plan"))
        assert(error.getMessage.contains("restart_plan"))
      }
    }
  }

  test("a refusal does not contradict the remedies of its differences") {
    inTempDir { checkpoint =>
      val (source, input) = stream(Tick("a", 103, 4))
      runAll(keep(input, timed), checkpoint)
      source.addData(Tick("a", 104, 5))
      val error = failureOf(keep(input, descending), checkpoint)
      assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"))
      assert(error.getMessage.contains("The former query can continue with the checkpoint"))
      assert(!error.getMessage.contains("Otherwise start with a new checkpoint"))
      // With other keys, a new checkpoint reads the source again.
      val keyed = keep(input, timed.replace("(k)", "(k, n)"))
      val remedy = restartPlanOf(keyed, checkpoint)
        .find(_.getAs[String]("subject") == "group")
        .get
        .getAs[String]("remedy")
      assert(remedy.contains("a source that starts after them"))
    }
  }

  test("aggregates that are stored in another form differ in the plan") {
    inTempDir { checkpoint =>
      val (_, input) = stream(Tick("a", 103, 4))
      def sums(window: String) =
        keep(
          input,
          s"PARTITION BY (k) ORDER BY (n), $window, output => 'agg', on_change => 'carry', " +
            "aggregates => TABLE(SELECT sum(n) FROM input_of_keep)")
      runAll(sums("'KEEP 2 ROWS'"), checkpoint)
      val plan = restartPlanOf(sums("esper => '#sort(2, n)'"), checkpoint)
      val aggregates = plan.filter(_.getAs[String]("subject") == "aggregates")
      assert(aggregates.size == 1)
      val shown = Seq("before", "now").map(aggregates.head.getAs[String])
      assert(shown.distinct.size == 2 && shown.forall(_.contains("sum(n)")))
    }
  }
}
