package winops.spark.execution

import java.io.File
import java.sql.Timestamp

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions._

import winops.{readState, withHistory}
import winops.spark.testing.{KeepStreamTest, Tick}
import winops.testing.TableTests

/** Streams that start with a table. */
class HistorySuite extends KeepStreamTest with TableTests {
  import testImplicits._

  private val history = Seq(
    Tick("a", 100, 1),
    Tick("b", 101, 2),
    Tick("a", 102, 3),
    Tick("a", 104, 4),
    Tick("b", 110, 5))

  private val rows = Seq(
    Seq(Tick("a", 111, 6), Tick("b", 112, 7)),
    Seq(Tick("a", 115, 8), Tick("c", 116, 9)),
    Seq(Tick("c", 140, 10), Tick("a", 140, 11)))

  /** The runs of a query that reads the rows of the table from the stream. */
  private val replayed = Seq(history +: rows)

  /** The runs of a query that is started anew when it has read the table. */
  private val restarted = Seq(rows.take(1), rows.drop(1))

  private val numbers = "KEEP 2 ROWS"
  private val timed = s"PARTITION BY (k) ORDER BY (n), '$numbers', time => 'ts'"

  private def table: DataFrame = withTime(history.toDF())

  /** The output of a query and the state that it leaves.
    *
    * @param runs
    *   the micro-batches of each run of the query
    */
  private def run(
      runs: Seq[Seq[Seq[Tick]]],
      delay: String,
      history: Option[(DataFrame, String)] = None)(
      query: DataFrame => DataFrame): (Written, Seq[Row]) = {
    val stream = ticks()
    val rows = withTime(stream.toDF()).withWatermark("ts", delay)
    val input = history.fold(rows) { case (table, emit) => withHistory(rows, table, emit) }
    val written = new Written
    var state = Seq.empty[Row]
    withTempDir { checkpoint =>
      runs.foreach { batches =>
        runEach(query(input), stream, batches, checkpoint.getCanonicalPath, written)
      }
      state = readState(spark, checkpoint.getCanonicalPath)
        .drop("_partition", "_row")
        .collect()
        .toSeq
    }
    (written, state)
  }

  private def sorted(rows: Seq[Row]): Seq[String] = rows.map(_.toString).sorted

  private def timeOf(row: Row): Long =
    row.getAs[java.sql.Timestamp]("_change_time").getTime / 1000

  testEach("changes after a table are those after the same rows of a stream", short = 1)(
    "5 seconds",
    "0 seconds") { delay =>
    val (all, state) = run(replayed, delay)(keep(_, timed))
    val (warm, warmState) = run(restarted, delay, Some(table -> "none"))(keep(_, timed))
    assert(sorted(warm.rows) == sorted(all.rows.filter(timeOf(_) > 110)))
    assert(sorted(warmState) == sorted(state))
    val (loud, loudState) = run(restarted, delay, Some(table -> "all"))(keep(_, timed))
    assert(sorted(loud.rows) == sorted(all.rows))
    assert(sorted(loudState) == sorted(state))
  }

  private def over(df: DataFrame, functions: String*): DataFrame = {
    df.createOrReplaceTempView("input_of_over")
    val columns = functions.zipWithIndex.map { case (f, i) =>
      s"${f.replace("OVER w", "OVER (PARTITION BY k ORDER BY ts, n")}) AS c$i"
    }
    spark.sql(s"SELECT *, ${columns.mkString(", ")} FROM input_of_over")
  }

  private def spoken(rows: Seq[Row]): Seq[Row] =
    rows.filter { row =>
      if (row.schema.fieldNames.contains("_change_time")) timeOf(row) > 110
      else row.getAs[Int]("n") > 5
    }

  private def assertLike(query: DataFrame => DataFrame, delay: Int, emit: String): Unit = {
    val (all, state) = run(replayed, s"$delay seconds")(query)
    val (warm, warmState) = run(restarted, s"$delay seconds", Some(table -> emit))(query)
    val expected = if (emit == "all") all.rows else spoken(all.rows)
    assert(sorted(warm.rows) == sorted(expected))
    assert(sorted(warmState) == sorted(state))
  }

  private val sums = "aggregates => TABLE(SELECT sum(n) AS s, max(n) AS m FROM input_of_keep)"

  testEach("all outputs after a table are those after the same rows of a stream", short = 4)(
    (s"$timed, $sums, output => 'withColumns'", 5, "none"),
    (
      "PARTITION BY (k) ORDER BY (n), spl => 'tumbling, count(2)', time => 'ts', output => 'events'",
      0,
      "all"),
    (
      "PARTITION BY (k) ORDER BY (n), windows => named_struct('a', 'KEEP 2 ROWS', 'b', " +
        "'KEEP 7 SECONDS'), time => 'ts'",
      0,
      "none"),
    (s"$timed, $sums, output => 'agg', mode => 'changes'", 5, "none"),
    (s"$timed, $sums, output => 'agg'", 5, "none"),
    (s"$timed, $sums, output => 'agg', mode => 'latest'", 0, "none"),
    (s"$timed, output => 'snapshots'", 5, "all"),
    (
      "PARTITION BY (k) ORDER BY (n), spl => 'sliding, count(2), partitioned, partitionCount(2)', " +
        "time => 'ts'",
      5,
      "none")) { case (arguments, delay, emit) =>
    assertLike(keep(_, arguments), delay, emit)
  }

  testEach("window functions after a table are those after the same rows of a stream", short = 1)(
    (Seq("lead(n) OVER w", "count(*) OVER w"), 5, "none"),
    (Seq("sum(n) OVER w ROWS 2 PRECEDING", "lag(n) OVER w"), 5, "all"),
    (Seq("sum(n) OVER w"), 0, "all"),
    (Seq("max(n) OVER w ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING"), 5, "none")) {
    case (functions, delay, emit) => assertLike(over(_, functions: _*), delay, emit)
  }

  for ((delay, short) <- Seq("20 seconds" -> 2, "0 seconds" -> 0)) {
    testEach[(String, DataFrame => DataFrame)](
      s"rows of the table that wait have no output after a restart with another column, $delay",
      short)(
      "keep" -> (keep(_, timed)),
      "max" -> (over(_, "max(n) OVER w ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING")),
      "lead" -> (over(_, "lead(n) OVER w"))) { case (_, query) =>
      def changed: DataFrame => DataFrame = {
        val started = Iterator.from(0)
        df => query(if (started.next() == 0) df else df.withColumn("more", $"n" + 1))
      }
      val (all, state) = run(Seq(history +: rows.take(1), rows.drop(1)), delay)(changed)
      val (warm, warmState) = run(restarted, delay, Some(table -> "none"))(changed)
      assert(sorted(warm.rows) == sorted(spoken(all.rows)))
      assert(sorted(warmState) == sorted(state))
    }
  }

  private def stream(): (MemoryStream[Tick], DataFrame) = {
    val source = ticks()
    (source, withTime(source.toDF()).withWatermark("ts", "0 seconds"))
  }

  private def changesOf(query: DataFrame, source: MemoryStream[Tick]): Seq[String] =
    sorted(runBatches(query, source)(rows: _*).rows)

  test("operators between the table and keep apply to both") {
    def shaped(df: DataFrame): DataFrame = df
      .filter($"n" =!= 4)
      .select($"ts", explode(sequence(lit(1), lit(2))).as("i"), $"k", ($"n" * 10).as("n"))
    val call = "PARTITION BY (k) ORDER BY (n, i), 'KEEP 3 ROWS', time => 'ts'"
    val (source, input) = stream()
    val direct = changesOf(keep(withHistory(shaped(input), shaped(table)), call), source)
    val (second, other) = stream()
    assert(changesOf(keep(shaped(withHistory(other, table)), call), second) == direct)
    val (third, views) = stream()
    views.createOrReplaceTempView("stream_of_ticks")
    table.createOrReplaceTempView("table_of_ticks")
    val sql = "WITH rows AS (SELECT ts, explode(sequence(1, 2)) AS i, k, n * 10 AS n FROM " +
      "with_history(TABLE(stream_of_ticks), TABLE(table_of_ticks)) WHERE n <> 4) " +
      s"SELECT * FROM keep(TABLE(rows) $call)"
    assert(changesOf(spark.sql(sql), third) == direct)
    assert(direct.nonEmpty)
  }

  test("the watermark may follow the table, and until cuts the table") {
    val (source, input) = stream()
    val cut = table.filter($"ts" < timestamp_seconds(lit(104)))
    val until = new Timestamp(104000)
    val all = changesOf(keep(withHistory(input, cut, "all"), timed), source)
    val (second, other) = stream()
    assert(changesOf(keep(withHistory(other, table, "all", until), timed), second) == all)
    val third = ticks()
    val later =
      withHistory(withTime(third.toDF()), cut, "all").withWatermark("ts", "0 seconds")
    assert(changesOf(keep(later, timed), third) == all)
    assert(all.exists(_.endsWith(",3]")) && !all.exists(_.endsWith(",4]")))
  }

  test("rows of the stream before the table's end are late, and are counted") {
    val (source, input) = stream()
    withTempDir { checkpoint =>
      source.addData(Tick("a", 105, 20), Tick("a", 120, 21))
      val query =
        start(keep(withHistory(input, table), timed), checkpoint.getCanonicalPath, new Written)
      try {
        query.processAllAvailable()
        val first = progressOf(query).head
        assert(first.stateOperators.head.numRowsDroppedByWatermark == 1)
        source.addData(Tick("a", 109, 22))
        query.processAllAvailable()
        assert(progressOf(query).map(_.stateOperators.head.numRowsDroppedByWatermark).sum == 2)
      } finally query.stop()
    }
  }

  /** Runs `check` with a folder of files of the table, and one for a checkpoint whose first
    * micro-batch has failed in the sink.
    */
  private def afterFailure(check: (File, String, DataFrame => DataFrame, Written) => Unit): Unit =
    withTempDir { folder =>
      withTempDir { checkpoint =>
        val files = new File(folder, "table")
        table.repartition(2).write.parquet(files.getCanonicalPath)
        val (source, input) = stream()
        def query(table: DataFrame) = keep(withHistory(input, table, "all"), timed)
        source.addData(rows.flatten)
        val failing = start(
          query(spark.read.parquet(files.getCanonicalPath)),
          checkpoint.getCanonicalPath,
          new Written,
          (_, _) => throw new IllegalStateException("the sink fails"))
        intercept[Exception](failing.processAllAvailable())
        check(files, checkpoint.getCanonicalPath, query(_), new Written)
      }
    }

  test("a first micro-batch that is run again reads the same files") {
    val (source, input) = stream()
    source.addData(rows.flatten)
    var expected = Seq.empty[String]
    withTempDir { checkpoint =>
      val query = keep(withHistory(input, table, "all"), timed)
      expected = sorted(runAll(query, checkpoint.getCanonicalPath).rows)
    }
    afterFailure { (files, checkpoint, query, written) =>
      withTime(Seq(Tick("a", 105, 99)).toDF()).write.mode("append").parquet(files.getPath)
      runAll(query(spark.read.parquet(files.getPath)), checkpoint, written)
      assert(sorted(written.rows) == expected)
    }
    afterFailure { (files, checkpoint, query, _) =>
      val gone = files.listFiles.filter(_.getName.endsWith("parquet")).head
      assert(gone.delete())
      val error = failureOf(query(spark.read.parquet(files.getPath)), checkpoint)
      assert(conditionsOf(error).contains("WINOPS_HISTORY_CHANGED"))
      assert(error.getMessage.contains(gone.getName))
      val ofMemory = failureOf(query(table), checkpoint)
      assert(conditionsOf(ofMemory).contains("WINOPS_HISTORY_CHANGED"))
    }
  }

  testEach("a first micro-batch that is run again compares columns of every type", short = 2)(
    "array(named_struct('in', map($, k)))",
    "named_struct('in', array(parse_json(cast($ as string))), 'k', k)",
    "map(k, $)",
    "parse_json(to_json(named_struct('value', $)))",
    "array(n, $)") { column =>
    withTempDir { checkpoint =>
      val (source, input) = stream()
      def query(value: String) = {
        def wide(df: DataFrame) =
          df.withColumn("more", expr(column.replace("$", value)))
        keep(withHistory(wide(input), wide(table)), timed).select("n", "_change_type")
      }
      source.addData(rows.flatten)
      failAtSink(query("n"), checkpoint.getCanonicalPath)
      val error = failureOf(query("n + 1"), checkpoint.getCanonicalPath)
      assert(conditionsOf(error).contains("WINOPS_HISTORY_CHANGED"))
      assert(runAll(query("n"), checkpoint.getCanonicalPath).rows.nonEmpty)
    }
  }

  testEach[(String, Boolean, DataFrame => DataFrame)](
    "a first micro-batch that is run again reads the same files in subqueries",
    short = 2)(
    ("IN in IN", false, _.where("n IN (SELECT n FROM listed WHERE n IN (SELECT n FROM listed))")),
    ("a source of version 2", true, _.where("n IN (SELECT n FROM listed)")),
    ("a value", false, _.withColumn("n", expr("n + (SELECT count(*) FROM listed)").cast("int"))),
    ("IN", false, _.where("n IN (SELECT n FROM listed)")),
    ("EXISTS", false, _.where("EXISTS (SELECT 1 FROM listed WHERE listed.n = n)").where("n < 5")),
    ("WITH", false, _.where("n IN (WITH some AS (SELECT n FROM listed) SELECT n FROM some)"))) {
    case (_, v2, query) =>
      withTempDir { folder =>
        val sources = if (v2) "" else "parquet"
        withSQLConf("spark.sql.sources.useV1SourceList" -> sources) {
          val (files, more) = (s"${folder.getPath}/rows", s"${folder.getPath}/listed")
          table.write.parquet(files)
          table.select("n").where("n IN (1, 3)").coalesce(1).write.parquet(more)
          def filled(): DataFrame = {
            val (source, input) = stream()
            source.addData(rows.flatten)
            input
          }
          val failed = filled()
          def changes(input: DataFrame = failed): DataFrame = {
            spark.read.parquet(more).createOrReplaceTempView("listed")
            keep(withHistory(input, query(spark.read.parquet(files)), "all"), timed)
          }
          val expected =
            if (v2) Nil else inTempDir(path => sorted(runAll(changes(filled()), path).rows))
          withTempDir { checkpoint =>
            val path = checkpoint.getCanonicalPath
            val fails =
              (_: DataFrame, _: Long) => throw new IllegalStateException("the sink fails")
            val failing = start(changes(), path, new Written, fails)
            intercept[Exception](failing.processAllAvailable())
            table.select("n").where("n = 4").coalesce(1).write.mode("append").parquet(more)
            if (v2) {
              val error = failureOf(changes(), path)
              assert(conditionsOf(error).contains("WINOPS_HISTORY_CHANGED"))
            } else assert(sorted(runAll(changes(), path).rows) == expected)
          }
        }
      }
  }

  test("sources in subqueries that cannot be read again are refused by name") {
    withTempDir { folder =>
      val files = s"${folder.getPath}/rows"
      table.write.parquet(files)
      val source = "org.apache.spark.sql.sources.SimpleScanSource"
      val scan = spark.read.format(source).option("from", "1").option("to", "3").load()
      scan.createOrReplaceTempView("scanned")
      Seq(
        "n IN (SELECT i FROM scanned)",
        "n > (SELECT max(i) FROM scanned)",
        "n IN (SELECT n FROM VALUES (1) AS t(n) WHERE EXISTS (SELECT * FROM scanned))").foreach {
        condition =>
          val rows = spark.read.parquet(files).where(condition)
          val error = refused(rows)
          assert(error.getCondition == "WINOPS_HISTORY_SOURCE", condition)
          assert(error.getMessage.contains("reads"), condition)
      }
    }
  }

  private def refused(table: DataFrame): AnalysisException = {
    val (_, input) = stream()
    inTempDir { path =>
      intercept[AnalysisException](runAll(keep(withHistory(input, table), timed), path))
    }
  }

  test("expressions that have other values in another run are refused by name") {
    withTempDir { folder =>
      val files = s"${folder.getPath}/rows"
      table.write.parquet(files)
      val rows = spark.read.parquet(files)
      val random = udf(() => 1).asNondeterministic()
      Seq(
        rows.where(rand() < 0.5) -> "rand(",
        rows.where("rand(3) < 0.5") -> "rand(3)",
        rows.sample(0.5) -> "Sample",
        rows.withColumn("k", expr("uuid()")) -> "uuid()",
        rows.withColumn("n", monotonically_increasing_id().cast("int")) -> "monotonically",
        rows.withColumn("n", random()) -> "UDF",
        rows.where("n IN (SELECT n FROM VALUES (1) AS t(n) WHERE rand() < 0.5)") -> "rand(",
        rows.where("ts < (SELECT current_timestamp())") -> "current_timestamp()").foreach {
        case (changing, name) =>
          withClue(s"$name: ") {
            val error = refused(changing)
            assert(error.getCondition == "WINOPS_HISTORY_SOURCE")
            assert(error.getMessage.contains(name))
          }
      }
    }
  }

  test("the current time in the table is that of the micro-batch that was begun") {
    withTempDir { folder =>
      val files = s"${folder.getPath}/rows"
      table.write.parquet(files)
      val (source, input) = stream()
      source.addData(rows.flatten)
      val aged = spark.read.parquet(files).withColumn("n", unix_millis(current_timestamp()))
      val wide = input.withColumn("n", $"n".cast("long"))
      val query = keep(withHistory(wide, aged, "all"), timed)
      val first = new Written
      withTempDir { checkpoint =>
        val failing =
          start(
            query,
            checkpoint.getCanonicalPath,
            new Written,
            (rows, id) => {
              first.add(id, rows.collect().toSeq)
              throw new IllegalStateException("the sink fails")
            })
        intercept[Exception](failing.processAllAvailable())
        Thread.sleep(20)
        val again = runAll(query, checkpoint.getCanonicalPath)
        assert(sorted(again.batch(0)) == sorted(first.rows) && first.rows.nonEmpty)
      }
    }
  }

  test("a checkpoint that has begun ignores the table, and the query may drop it") {
    val (source, input) = stream()
    val written = new Written
    withTempDir { checkpoint =>
      val path = checkpoint.getCanonicalPath
      source.addData(rows.head)
      runAll(keep(withHistory(input, table, "all"), timed), path, written)
      source.addData(rows(1))
      runAll(keep(withHistory(input, table.limit(1), "all"), timed), path, written)
      source.addData(rows(2))
      runAll(keep(input, timed), path, written)
    }
    val (all, _) = run(replayed, "0 seconds")(keep(_, timed))
    assert(sorted(written.rows) == sorted(all.rows))
  }

  test("other places, sources and columns are refused by name") {
    def condition(df: => DataFrame): String =
      inTempDir(path => intercept[AnalysisException](runAll(df, path)).getCondition)
    val (_, input) = stream()
    def after(table: DataFrame) = withHistory(input, table)
    assert(condition(after(table)) == "WINOPS_HISTORY_PLACE")
    assert(condition(withHistory(table, table)) == "WINOPS_HISTORY_PLACE")
    assert(condition(keep(after(table).dropDuplicates("n"), timed)) == "WINOPS_HISTORY_PLACE")
    assert(
      condition(keep(withHistory(input.dropDuplicates("k", "ts"), table), timed)) ==
        "WINOPS_HISTORY_PLACE")
    assert(condition(after(table.drop("n"))) == "WINOPS_HISTORY_COLUMN")
    assert(
      condition(after(table.withColumn("n", col("n").cast("string")))) ==
        "WINOPS_HISTORY_COLUMN")
    assert(condition(after(input)) == "WINOPS_ARGUMENT.VALUE")
    assert(condition(withHistory(input, table, "some")) == "WINOPS_ARGUMENT.VALUE")
    val source = "org.apache.spark.sql.sources.SimpleScanSource"
    val scan = spark.read.format(source).option("from", "1").option("to", "3").load()
    val other = scan.selectExpr("'a' AS k", "timestamp_seconds(i) AS ts", "i AS n")
    assert(condition(keep(after(other), timed)) == "WINOPS_HISTORY_SOURCE")
    val narrow = table.withColumn("n", col("n").cast("short")).withColumn("more", lit(1))
    assert(after(narrow).schema("n").dataType == input.schema("n").dataType)
  }

  test("rows of the table precede those of all streams of a union") {
    val (one, other) = (ticks(), ticks())
    val union = withTime(one.toDF().union(other.toDF())).withWatermark("ts", "5 seconds")
    val call = "PARTITION BY (k), 'KEEP 2 ROWS', time => 'ts'"
    inTempDir { checkpoint =>
      other.addData(rows.head :+ Tick("a", 110, 20))
      one.addData(rows(1) ++ rows(2) :+ Tick("b", 110, 21))
      val written = runAll(keep(withHistory(union, table, "all"), call), checkpoint)
      val ofB = written.rows.filter(row => row.getAs[String]("k") == "b").sortBy(_.getLong(3))
      val inserted = ofB.filter(_.getString(0) == "insert").map(_.getAs[Int]("n"))
      assert(inserted == Seq(2, 5, 21, 7))
    }
  }

  Seq("in memory", "of files").foreach { kind =>
    test(s"without a time and an order, rows of a table $kind come first, in its order") {
      inTempDir { folder =>
        val source = ticks()
        source.addData(rows.head)
        val few = withTime(source.toDF())
        val call = "PARTITION BY (k), 'KEEP 2 ROWS'"
        val ordered = table.coalesce(1)
        val history =
          if (kind == "in memory") ordered
          else {
            ordered.write.parquet(s"$folder/table")
            spark.read.parquet(s"$folder/table")
          }
        val written = runAll(keep(withHistory(few, history), call), s"$folder/checkpoint")
        def changes(k: String) = written.rows
          .filter(_.getAs[String]("k") == k)
          .sortBy(_.getAs[Long]("_change_seq"))
          .map(row => (row.getString(0), row.getAs[Long]("_change_seq"), row.getAs[Int]("n")))
        assert(changes("a") == Seq(("insert", 4L, 6), ("delete", 5L, 3)))
        assert(changes("b") == Seq(("insert", 2L, 7), ("delete", 3L, 2)))
      }
    }
  }
}
