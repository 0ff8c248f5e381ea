package winops.spark.restart

import java.io.File
import java.sql.Timestamp
import java.time.Instant
import java.time.temporal.ChronoUnit

import scala.util.Random

import org.apache.logging.log4j.Level

import org.apache.spark.sql.{Column, DataFrame, Row}
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.{array, element_at, expr, lit, map, struct, to_json, when}
import org.apache.spark.sql.types.{DataType, IntegerType, LongType, UserDefinedType}
import org.apache.spark.sql.winops.execution.StatefulKeepExec
import org.apache.spark.sql.winops.source.HistorySource
import org.apache.spark.sql.winops.testing.PlannedQuery

import winops.{readState, withHistory}
import winops.spark.plan.Application
import winops.spark.testing.{KeepStreamTest, RandomProperties, Reading, Readings, Tick}
import winops.testing.Longer

/** Restarts that need history, and get it from a table. */
class HistoryRestartsSuite extends KeepStreamTest with RandomProperties {
  import HistoryRestartsSuite._
  import testImplicits._

  (0 until Runs).foreach { run =>
    val tags = Longer.unless(ShortRuns(run))
    property(s"a table supplies what the state lacks: run ${run + 1}", tags: _*) { random =>
      check(random, Changes(run % Changes.size))
    }
  }

  private def check(random: Random, change: Change): Unit = {
    val (before, now) = Iterator
      .continually(change.draw(random))
      // A table has an order of arrival only by order_by.
      .filter { case (one, other) =>
        areByTime(other) || one.window.time == other.window.time && other.orderBy == "n"
      }
      .next()
    val exact = areByTime(before, now)
    val readings = Readings.random(random, Seq.fill(4)(1 + random.nextInt(60))) match {
      case some => some :+ Readings.heartbeat(some.size.toLong)
    }
    val (early, late) = readings.splitAt(1 + random.nextInt(readings.size - 1))
    val first = if (exact) Readings.batches(random, early) else Seq(early)
    val rest = Readings.batches(random, late)
    withClue(
      s"${change.rule}: from ${before.call} over ${before.columns} to ${now.call} over ${now.columns}, $first: ") {
      val fresh = lives(now, now, first, rest, None)
      val rows = Readings.columns(spark.sparkContext.parallelize(early, 1).toDF())
      // It has no effect on a restart.
      val until = now.window.time.map { _ =>
        val micros = early(random.nextInt(early.size)).micros
        Timestamp.from(Instant.EPOCH.plus(micros, ChronoUnit.MICROS))
      }
      val restarted = lives(before, now, first, rest, Some(Table(rows, until.orNull)))
      if (exact) assert(restarted.rows.sorted == fresh.rows.sorted)
      else {
        val surplus = restarted.rows.diff(fresh.rows)
        val missing = fresh.rows.diff(restarted.rows)
        if (before.window.time == now.window.time && before.time == now.time) {
          assert(missing.isEmpty)
        } else assert(missing.filter(insertsOneOf(_, late)).isEmpty)
        // The former query may have ended before a timer of the second one was due, and rows that
        // waited by another time may have been applied by then.
        assert(surplus.diff(fresh.rowsBefore).isEmpty)
      }
      assert(restarted.state == fresh.state)
    }
  }

  /** Returns true if an output row is the insert of one of the readings. */
  private def insertsOneOf(row: String, readings: Seq[Reading]): Boolean =
    row.contains("\"_change_type\":\"insert\"") &&
      readings.exists(reading => row.contains(s"\"n\":${reading.n},"))

  /** Runs a query over some micro-batches, and then another one. */
  private def lives(
      before: KeepQuery,
      now: KeepQuery,
      first: Seq[Seq[Reading]],
      rest: Seq[Seq[Reading]],
      table: Option[Table]): Life = {
    var life = Life(Nil, Nil, Nil)
    withTempDir { folder =>
      val checkpoint = folder.getCanonicalPath
      val stream = memoryStream[Reading]
      def shown(rows: Seq[Row]) = rows.map(_.getString(0))
      life = Life(
        shown(run(before, stream, first, checkpoint, None)),
        shown(run(now, stream, rest, checkpoint, table)),
        stateOf(checkpoint, now.window.time.isDefined))
    }
    life
  }

  private def stateOf(checkpoint: String, isTimed: Boolean): Seq[String] = {
    val times = if (isTimed) Nil else Seq("_arrived", "_leaves")
    val state = readState(spark, checkpoint).drop(Seq("_partition", "_row") ++ times: _*)
    val columns = state.columns.sorted.map(state(_))
    state
      .select(to_json(struct(columns.toIndexedSeq: _*)))
      .collect()
      .map(_.getString(0))
      .sorted
      .toSeq
  }

  private def run(
      query: KeepQuery,
      stream: MemoryStream[Reading],
      batches: Seq[Seq[Reading]],
      checkpoint: String,
      table: Option[Table]): Seq[Row] = {
    val written = new Written
    withSQLConf(query.settings.toSeq: _*) {
      val rows = Readings
        .columns(stream.toDF())
        .selectExpr(query.columns: _*)
        .withWatermark(query.time, Readings.Disorder)
      val input =
        table.fold(rows) { history =>
          withHistory(rows, history.rows.selectExpr(query.columns: _*), "none", history.until)
        }
      val result = keep(input, query.call)
      val omitted = if (query.window.time.isEmpty) Seq("_change_time") else Nil
      val columns = result.columns.diff(omitted).sorted.map(result(_))
      val running = start(
        result.filter($"k" >= 0).select(to_json(struct(columns.toIndexedSeq: _*))),
        checkpoint,
        written)
      try {
        running.processAllAvailable()
        batches.foreach { batch =>
          stream.addData(batch)
          running.processAllAvailable()
        }
      } finally running.stop()
    }
    written.rows
  }

  private val call = "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS', time => 'ts'"
  private val other = "PARTITION BY (k) ORDER BY (n DESC), 'KEEP 3 ROWS', time => 'ts'"

  private val early = Seq(
    Seq(
      Tick("a", 1, 1),
      Tick("a", 2, 2),
      Tick("b", 3, 3),
      Tick("a", 20, 4),
      Tick("b", 21, 5),
      Tick("a", 21, 6)),
    Seq(Tick("a", 27, 7), Tick("b", 27, 8), Tick("a", 24, 9)))

  private val late = Seq(Tick("a", 28, 10), Tick("a", 27, 11), Tick("b", 60, 12))
  private val last = Seq(Tick("a", 70, 13), Tick("b", 90, 14))

  private def input(stream: MemoryStream[Tick]): DataFrame =
    withTime(stream.toDF()).withWatermark("ts", "5 seconds")

  private def table: DataFrame = withTime(early.flatten.toDF())

  private def shown(rows: Seq[Row]): Seq[String] = rows.map(_.toString).sorted

  private def ticksState(checkpoint: String): Seq[String] =
    shown(readState(spark, checkpoint).drop("_partition", "_row").collect().toSeq)

  /** Runs `before` over the early rows, and `body` with the checkpoint. */
  private def after(before: DataFrame => DataFrame)(
      body: (String, MemoryStream[Tick]) => Unit): Unit = withTempDir { folder =>
    val stream = ticks()
    runEach(before(input(stream)), stream, early, folder.getCanonicalPath)
    body(folder.getCanonicalPath, stream)
  }

  /** The output of a query for the late rows, and its state, if it has always run. */
  private def always(now: DataFrame => DataFrame): (Seq[String], Seq[String]) = {
    var found = (Seq.empty[String], Seq.empty[String])
    after(now) { (checkpoint, stream) =>
      val written = runEach(now(input(stream)), stream, Seq(late, last), checkpoint)
      found = (shown(written.rows), ticksState(checkpoint))
    }
    found
  }

  private lazy val alwaysOther = always(keep(_, other))

  private def assertReplaced(before: DataFrame => DataFrame, now: DataFrame => DataFrame): Unit =
    assertReplacedAs(always(now), before, now)

  private def assertReplacedAs(
      expected: (Seq[String], Seq[String]),
      before: DataFrame => DataFrame,
      now: DataFrame => DataFrame): Unit = {
    val (rows, state) = expected
    after(before) { (checkpoint, stream) =>
      val written = new Written
      stream.addData(late)
      runAll(now(withHistory(input(stream), table)), checkpoint, written)
      stream.addData(last)
      // A later start has no table, or ignores it.
      runAll(now(withHistory(input(stream), table.limit(1))), checkpoint, written)
      assert(shown(written.rows) == rows)
      assert(ticksState(checkpoint) == state)
    }
  }

  private def over(df: DataFrame, functions: String*): DataFrame = {
    df.createOrReplaceTempView("input_of_over")
    val columns = functions.zipWithIndex.map { case (f, i) =>
      s"${f.replace("OVER w", "OVER (PARTITION BY k ORDER BY ts, n")}) AS c$i"
    }
    spark.sql(s"SELECT *, ${columns.mkString(", ")} FROM input_of_over")
  }

  testStores("rows that waited go on waiting") {
    assertReplacedAs(alwaysOther, keep(_, call), keep(_, other))
  }

  test("rows that the former query dropped as late return with the table") {
    // The watermark is 22.
    val dropped = Tick("a", 5, 50)
    val wide = call.replace("2 ROWS", "9 ROWS")
    def numbers(now: DataFrame => DataFrame): Seq[Int] = {
      var found = Seq.empty[Int]
      after(keep(_, wide)) { (checkpoint, stream) =>
        stream.addData(dropped)
        runAll(keep(input(stream), wide), checkpoint)
        stream.addData(late)
        runAll(now(input(stream)), checkpoint)
        found = readState(spark, checkpoint).select("n").as[Int].collect().toSeq.sorted
      }
      found
    }
    val history = table.union(withTime(Seq(dropped).toDF()))
    val restarted =
      numbers(rows => keep(withHistory(rows, history), wide.replace("(n)", "(n DESC)")))
    assert(restarted == numbers(keep(_, wide)) :+ 50)
  }

  test("rows that waited keep values of a user-defined type, which is stored as a wider one") {
    def priced(df: DataFrame, price: UserDefinedType[_]): DataFrame = {
      val plan = PlannedQuery.planOf(df.withColumn("stored", $"n".cast(price.sqlType)))
      val value = Alias(OfStoredType(plan.output.last, price), "price")()
      PlannedQuery.of(spark, Project(plan.output.init :+ value, plan))
    }
    assertReplaced(
      df => keep(priced(df, new IntPrice), call),
      df => keep(priced(df, new LongPrice), other))
  }

  test("rows that waited keep the values of fields that are in another order, at any depth") {
    def reordered(df: DataFrame, fields: Seq[String]): DataFrame = {
      val values = Map("x" -> $"n", "y" -> $"n" * 10, "z" -> struct($"k", $"n".as("m")))
      val row = struct(fields.map(name => values(name).as(name)): _*)
      df.withColumn("s", row)
        .withColumn("all", array(row, row))
        .withColumn("by", map($"k", row))
        .withColumn("none", when($"n" % 2 === 0, row))
    }
    assertReplaced(
      df => keep(reordered(df, Seq("x", "y", "z")), call),
      df => keep(reordered(df, Seq("z", "y", "x")), call))
  }

  test("rows that waited have NULL, or the value of fill=, where Spark casts no value") {
    def withC(df: DataFrame, value: Column): DataFrame = df.withColumn("c", value)
    Seq("" -> null, ", fill => named_struct('c', 7)" -> 7).foreach { case (fill, value) =>
      after(df => keep(withC(df, array($"n")), call)) { (checkpoint, stream) =>
        stream.addData(late)
        val started = withHistory(withC(input(stream), array($"n")), withC(table, array($"n")))
        val now = keep(
          started.withColumn("c", element_at($"c", 1)),
          s"${call.replace("2 ROWS", "9 ROWS")}$fill")
        val rows = runAll(now, checkpoint).rows
        val waited = rows.filter(row => Seq(7, 8, 9).contains(row.getAs[Int]("n")))
        assert(waited.map(_.getAs[Any]("c")) == Seq(value, value, value))
      }
    }
  }

  test("rows that waited go on waiting if the time column is written in another case", Longer) {
    assertReplaced(
      keep(_, call),
      df => keep(df.withColumnRenamed("ts", "TS"), call.replace("'ts'", "'TS'")))
  }

  test("rows that waited by another time column are not late") {
    val seen = call.replace("'ts'", "'seen'")
    withTempDir { folder =>
      val (checkpoint, stream) = (folder.getCanonicalPath, ticks())
      def both(df: DataFrame) = df.withColumn("seen", $"ts" + expr("INTERVAL 20 SECONDS"))
      def rows(time: String) =
        both(withTime(stream.toDF())).withWatermark(time, "5 seconds")
      runEach(keep(rows("seen"), seen), stream, early, checkpoint)
      stream.addData(Tick("a", 28, 10), Tick("b", 60, 12))
      val written = runAll(keep(withHistory(rows("ts"), both(table)), call), checkpoint)
      // The watermark of the query is 42, by the former column. New rows before it are late.
      assert(emitted(written.rows, "insert") == Seq(7, 8, 9))
      assert(
        readState(spark, checkpoint).select("n").as[Int].collect().toSeq.sorted ==
          Seq(5, 7, 8, 9, 12))
    }
  }

  test("rows that waited in one group, and tie, keep their order in a group of several") {
    val tied = Seq(
      Seq(Tick("x1", 1, 1), Tick("x2", 1, 2)),
      Seq(
        Tick("x3", 10, 3),
        Tick("x1", 10, 4),
        Tick("x2", 10, 5),
        Tick("x1", 10, 6),
        Tick("x4", 10, 7)))
    def by(group: String) = s"PARTITION BY ($group), 'KEEP 9 ROWS', time => 'ts'"
    def order(first: String): Seq[Int] = {
      var found = Seq.empty[Int]
      withTempDir { folder =>
        val (checkpoint, stream) = (folder.getCanonicalPath, ticks())
        runEach(keep(input(stream), first), stream, tied, checkpoint)
        stream.addData(Tick("y", 90, 8))
        val now = by("substring(k, 1, 1)")
        val history = withTime(tied.flatten.toDF())
        val written = runAll(keep(withHistory(input(stream), history), now), checkpoint)
        found = written.rows.map(_.getAs[Int]("n"))
      }
      found
    }
    val byKey = order(by("k"))
    assert(byKey.sorted == Seq(3, 4, 5, 6, 7))
    assert(byKey.filter(Set(4, 6)) == Seq(4, 6))
  }

  test("functions with OVER that the stored rows do not serve") {
    assertReplaced(
      over(_, "sum(n) OVER w ROWS 1 PRECEDING"),
      over(_, "sum(n) OVER w ROWS 1 PRECEDING", "sum(n) OVER w", "lag(n, 3) OVER w"))
  }

  private val sorted =
    "PARTITION BY (k) ORDER BY (n), esper => '#sort(2, n desc)', time => 'ts'"

  private val shared = "PARTITION BY (k) ORDER BY (n), time => 'ts', " +
    "spl => 'sliding, count(2), partitioned, partitionCount(2)'"

  private def byFirstLetter(call: String): String = call.replace("(k)", "(substring(k, 1, 1))")

  test("windows of another kind, other groups, and cross-group windows") {
    assertReplaced(keep(_, call), keep(_, byFirstLetter(call)))
    assertReplaced(keep(_, call), keep(_, sorted))
    assertReplaced(keep(_, shared), keep(_, shared.replace("count(2), part", "count(3), part")))
  }

  test("windows of another kind and other groups at once, and a column less", Longer) {
    assertReplaced(keep(_, call), keep(_, byFirstLetter(sorted)))
    assertReplaced(df => keep(df.withColumn("more", $"n" * 2), shared), keep(_, shared))
  }

  /** The warnings of a query's table. */
  private def warningsOf(body: => Any): Seq[String] = {
    val appender = new LogAppender("warnings of a table")
    val loggers =
      Seq(HistorySource.getClass.getName.stripSuffix("$"), classOf[StatefulKeepExec].getName)
    withLogAppender(appender, loggers, Some(Level.WARN))(body)
    appender.loggingEvents.map(_.getMessage.getFormattedMessage).toSeq
  }

  testStores("a first micro-batch that has failed is run again with the same rows") {
    val now = keep(_: DataFrame, other)
    val (rows, state) = alwaysOther
    withTempDir { folder =>
      val files = new File(folder, "table").getCanonicalPath
      table.repartition(2).write.parquet(files)
      after(keep(_, call)) { (checkpoint, stream) =>
        stream.addData(late)
        def query: DataFrame = now(withHistory(input(stream), spark.read.parquet(files)))
        failAtSink(query, checkpoint)
        withTime(Seq(Tick("a", 2, 99)).toDF()).write.mode("append").parquet(files)
        val written = new Written
        val warnings = warningsOf(runAll(query, checkpoint, written))
        val unread = warnings.filter(_.contains("will not be read"))
        assert(unread.size == 1 && unread.head.startsWith("1 file of the table"), warnings)
        val anew = warnings.filter(_.contains("formed anew"))
        assert(anew.size == 1, warnings)
        val folder = new File(checkpoint, "history")
        val record = folder.listFiles().map(_.getName).filter(_.startsWith("restart-")).head
        (unread ++ anew).foreach { warning =>
          assert(warning.contains(s"remove the files ${record.replaceAll("[a-z]+$", "*")} in "))
          assert(warning.contains(folder.getPath))
        }
        stream.addData(last)
        runAll(query, checkpoint, written)
        assert(shown(written.rows) == rows)
        assert(ticksState(checkpoint) == state)
      }
    }
  }

  testStores("another query, and the former one, run a micro-batch in which a query has failed") {
    after(keep(_, call)) { (checkpoint, stream) =>
      stream.addData(late)
      val wider = "PARTITION BY (k) ORDER BY (n DESC), 'KEEP 9 ROWS', time => 'ts'"
      Seq(wider, sorted).foreach { arguments =>
        failAtSink(keep(withHistory(input(stream), table), arguments), checkpoint)
      }
      val written = runAll(keep(withHistory(input(stream), table), other), checkpoint)
      stream.addData(last)
      runAll(keep(withHistory(input(stream), table), other), checkpoint, written)
      val (rows, state) = alwaysOther
      assert(shown(written.rows) == rows)
      assert(ticksState(checkpoint) == state)
    }
    after(keep(_, call)) { (checkpoint, stream) =>
      stream.addData(late)
      failAtSink(keep(withHistory(input(stream), table), other), checkpoint)
      val written = runAll(keep(input(stream), call), checkpoint)
      stream.addData(last)
      runAll(keep(input(stream), call), checkpoint, written)
      val (rows, state) = always(keep(_, call))
      assert(shown(written.rows) == rows)
      assert(ticksState(checkpoint) == state)
    }
  }

  test("rows of the table from the watermark on are those of the stream, whatever until says") {
    val (rows, state) = alwaysOther
    after(keep(_, call)) { (checkpoint, stream) =>
      val ahead = table.union(withTime((late ++ last).toDF()))
      def started = withHistory(input(stream), ahead, "none", new Timestamp(2000))
      val written = new Written
      Seq(late, last).foreach { batch =>
        stream.addData(batch)
        runAll(keep(started, other), checkpoint, written)
      }
      assert(shown(written.rows) == rows)
      assert(ticksState(checkpoint) == state)
    }
  }

  test("until has no effect with arrival: the table has what the stream has delivered") {
    def of(order: String) =
      s"PARTITION BY (k) ORDER BY ($order), 'KEEP 2 ROWS', time => 'ts', apply => 'arrival'"
    val states = Seq(null, new Timestamp(2000)).map { until =>
      var found = Seq.empty[String]
      after(keep(_, of("n"))) { (checkpoint, stream) =>
        stream.addData(late)
        val started = withHistory(input(stream), table, "none", until)
        runAll(keep(started, of("n DESC")), checkpoint)
        found = ticksState(checkpoint)
      }
      found
    }
    assert(states.distinct.size == 1)
    assert(states.head.size == 4)
  }

  /** The ticks of which a query emits deletes or inserts. */
  private def emitted(rows: Seq[Row], kind: String): Seq[Int] =
    rows.filter(_.getAs[String]("_change_type") == kind).map(_.getAs[Int]("n")).sorted

  private def ofArrival(order: String, application: String = "arrival") =
    s"PARTITION BY (k) ORDER BY ($order), 'KEEP 5 SECONDS', time => 'ts', apply => '$application'"

  private val delivered =
    Seq(Tick("a", 3, 0), Tick("a", 10, 1), Tick("a", 14, 2), Tick("b", 20, 3), Tick("c", 8, 4))

  /** Runs a query by arrival over the delivered rows up to the watermark 10, and another one with
    * a table.
    */
  private def afterArrival(now: String, batches: Seq[Tick]*): Written = {
    val written = new Written
    withTempDir { folder =>
      val (checkpoint, stream) = (folder.getCanonicalPath, ticks())
      def rows = withTime(stream.toDF()).withWatermark("ts", "10 seconds")
      stream.addData(delivered)
      val former = runAll(keep(rows, ofArrival("n")), checkpoint).rows
      assert(emitted(former, "insert") == Seq(0, 1, 2, 3, 4))
      assert(emitted(former, "delete") == Seq(0))
      val started = withHistory(rows, withTime(delivered.toDF()))
      runEach(keep(started, now), stream, batches, checkpoint, written)
    }
    written
  }

  test("deletes that the former query has not emitted are emitted, with arrival") {
    val written = afterArrival(ofArrival("n * 2"), Seq(Tick("a", 16, 5)), Seq(Tick("d", 60, 6)))
    assert(emitted(written.rows, "insert") == Seq(5, 6))
    assert(emitted(written.rows, "delete") == Seq(1, 2, 3, 4, 5))
  }

  test("deletes that the former query has not emitted are emitted, if its rows wait now") {
    val written = afterArrival(
      ofArrival("n", "event_time"),
      Seq(Tick("b", 21, 5)),
      Seq(Tick("b", 26, 6)),
      Seq(Tick("d", 60, 7)),
      Seq(Tick("d", 90, 8)))
    assert(emitted(written.rows, "insert") == Seq(5, 6, 7))
    assert(emitted(written.rows, "delete") == Seq(1, 2, 3, 4, 5, 6, 7))
  }

  test("a restart that needs no history ignores the table, and its plan does not depend on it") {
    after(keep(_, call)) { (checkpoint, stream) =>
      def wider(df: DataFrame): DataFrame = keep(df.withColumn("more", $"n" * 2), call)
      def hash(df: DataFrame): String =
        restartPlanOf(df, checkpoint).head.getAs[String]("plan")
      val history = table.withColumn("more", lit(1))
      val plan = hash(wider(input(stream)))
      assert(hash(wider(withHistory(input(stream), table))) == plan)
      stream.addData(late)
      withSQLConf(RestartSettings.Confirm -> "true", RestartSettings.Plan -> plan) {
        runAll(wider(withHistory(input(stream), history)), checkpoint)
      }
      assert(!new File(checkpoint, "history").exists)
    }
  }

  test("a plan with a table can be confirmed; without one, the query is refused") {
    after(keep(_, call)) { (checkpoint, stream) =>
      stream.addData(late)
      def planOf(df: DataFrame): Row = restartPlanOf(df, checkpoint).head
      val without = planOf(keep(input(stream), other))
      assert(without.getAs[String]("outcome") == "needs history")
      assert(
        without.getAs[String]("because").contains("before 1969") ||
          without.getAs[String]("because").contains("before 1970"))
      val error = failureOf(keep(input(stream), other), checkpoint)
      assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"))
      assert(error.getMessage.contains("with_history"))
      val started = keep(withHistory(input(stream), table), other)
      val plan = planOf(started)
      assert(plan.getAs[String]("outcome") == "needs history")
      assert(
        plan.getAs[String]("because").startsWith("The first micro-batch removes every group"))
      assert(plan.getAs[Long]("groups") == 2)
      withSQLConf(RestartSettings.Confirm -> "true") {
        assert(
          conditionsOf(failureOf(started, checkpoint)).contains("WINOPS_RESTART_UNCONFIRMED"))
        withSQLConf(RestartSettings.Plan -> plan.getAs[String]("plan")) {
          assert(runAll(started, checkpoint).rows.nonEmpty)
        }
      }
    }
  }

  test("group keys of another type are refused, and the message says what to do") {
    after(keep(_, call)) { (checkpoint, stream) =>
      stream.addData(late)
      val byNumber = "PARTITION BY (n) ORDER BY (ts), 'KEEP 2 ROWS', time => 'ts'"
      val error = failureOf(keep(withHistory(input(stream), table), byNumber), checkpoint)
      assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"))
      assert(error.getMessage.contains("group is refused"))
      assert(error.getMessage.contains("new checkpoint"))
    }
  }

  test("without a time, the table has what the stream has delivered") {
    val now = keep(_: DataFrame, "PARTITION BY (k) ORDER BY (n DESC), 'KEEP 3 ROWS'")
    withTempDir { folder =>
      val (checkpoint, stream) = (folder.getCanonicalPath, ticks())
      stream.addData(early.flatten)
      val _ = runAll(keep(withTime(stream.toDF()), "PARTITION BY (k), 'KEEP 2 ROWS'"), checkpoint)
      stream.addData(late)
      val warm = runAll(now(withHistory(withTime(stream.toDF()), table)), checkpoint)
      withTempDir { other =>
        val again = ticks()
        again.addData(early.flatten)
        val _ = runAll(now(withTime(again.toDF())), other.getCanonicalPath)
        again.addData(late)
        val all = runAll(now(withTime(again.toDF())), other.getCanonicalPath)
        def withoutTime(rows: Seq[Row]) = rows.map(_.toSeq.patch(1, Nil, 1).toString).sorted
        assert(withoutTime(warm.rows) == withoutTime(all.rows))
      }
    }
  }
}

private object HistoryRestartsSuite {
  val Changes: Seq[Change] = ChangedQueries.all.filter(_.outcome == Outcome.NeedsHistory)

  val Runs: Int = sys.props.get("changes").fold(2 * Changes.size)(_.toInt)

  /** A run with another `key`, `op` or `buffer`, and one with another time. */
  val ShortRuns: Set[Int] = Set("`key`, `op`, `buffer`", "`time`, `apply`").map { rule =>
    Changes.lastIndexWhere(_.rule == rule).ensuring(_ >= 0, rule)
  }

  /** A user-defined type with whole numbers.
    *
    * @param sqlType
    *   the type as which its values are stored
    */
  sealed abstract class Price(override val sqlType: DataType) extends UserDefinedType[BigInt] {
    override def serialize(price: BigInt): Any =
      if (sqlType == IntegerType) price.toInt else price.toLong
    override def deserialize(stored: Any): BigInt = BigInt(stored.toString)
    override def userClass: Class[BigInt] = classOf[BigInt]
  }

  // Spark creates these types without arguments.
  final class IntPrice extends Price(IntegerType)
  final class LongPrice extends Price(LongType)

  /** A table, and the argument `until`, which may be null. */
  final case class Table(rows: DataFrame, until: Timestamp)

  /** The life of a checkpoint: the output of the first query, that of the second one, and the
    * state.
    */
  final case class Life(rowsBefore: Seq[String], rows: Seq[String], state: Seq[String])

  /** Returns true if queries apply rows in the order of one time column. */
  def areByTime(queries: KeepQuery*): Boolean =
    queries.forall(_.window.time.contains(Application.EventTime)) &&
      queries.map(_.time).distinct.size == 1
}
