package winops.spark.execution

import java.{util => ju}

import scala.util.Random

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{AnalysisException, Column, DataFrame, Row}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.functions.{avg, collect_list, count, expr, struct, to_json, window}

import winops.Interval
import winops.spark.analysis.KeepDescriber
import winops.spark.plan.{Application, Keep}
import winops.spark.testing.{Ask, CompiledCode, LookupTest, RandomProperties, RandomWindows, Reading, Readings, Trade}
import winops.testing.{Longer, TableTests}

/** Rows of one input look up the windows of another one. */
class LookupSuite extends LookupTest with RandomProperties with TableTests {
  import LookupSuite._
  import testImplicits._

  (1 to Runs).foreach { run =>
    property(
      s"a row finds what its window holds as of its time: run $run",
      Longer.unless(run == 1): _*)(checkNaive)
  }

  /** Compares one window of each kind with a list, over tables; the streams of one of them, too.
    */
  private def checkNaive(random: Random): Unit = {
    val (trades, asks) = randomRows(random)
    val windows = naiveLookups(random)
    val streamed = random.nextInt(windows.size)
    windows.zipWithIndex.foreach { case (window, i) =>
      val (before, isInner) = (random.nextBoolean(), random.nextBoolean())
      val how = if (isInner) "inner" else "left"
      val arguments = s"lookup_before => $before, lookup_how => '$how', $Aggregates"
      def query(trades: DataFrame, asks: DataFrame): DataFrame =
        lookup(trades, asks, s"'${window.policy}'", arguments)
      val expected = naiveAnswers(window, trades, asks, before, isInner).map { case (ask, held) =>
        shown(ask, held.map(_.n))
      }.sorted
      val code = if (i % 2 == 0) CompiledCode.Compiled else CompiledCode.Interpreted
      withSQLConf(code: _*) {
        withClue(s"${window.policy}, $arguments, $trades, $asks: ") {
          assert(onTables(trades, asks)(query).map(shownRow).sorted == expected)
          if (i == streamed) {
            val emitted = onStreams(random, trades, asks)(query)
            assert(emitted.filter(_.getAs[Int]("id") >= 0).map(shownRow).sorted == expected)
          }
        }
      }
    }
  }

  (1 to 2 * Runs).foreach { run =>
    property(
      s"every window answers over streams as over tables: run $run",
      Longer.unless(run == 1): _*)(checkWindows)
  }

  /** Compares streams with tables. Spark compiles the code of the queries of one window, and
    * interprets that of another one.
    */
  private def checkWindows(random: Random): Unit = {
    val windows = new RandomWindows(random)
    val all = windows.ccl ++ windows.apama ++ windows.esper ++ windows.reporting
    val codes = Seq(CompiledCode.Compiled, CompiledCode.Interpreted)
    random.shuffle(all).zip(codes).foreach { case (window, code) =>
      val byTime = window.copy(time = Some(Application.EventTime))
      val readings = Readings.random(random, Seq.fill(3)(1 + random.nextInt(40)))
      val (rows, asking) = readings.partition(_ => random.nextBoolean())
      val end = Readings.heartbeat(readings.size.toLong)
      val (ofWindow, ofOther) = (rows.map(_.n).toSet + end.n, asking.map(_.n).toSet + end.n)
      def query(rows: DataFrame, asking: DataFrame): DataFrame = {
        asking.createOrReplaceTempView("asking")
        val result = keep(
          rows,
          s"${byTime.call}, output => 'lookup', lookup => TABLE(asking), aggregates => " +
            "TABLE(SELECT count(*) AS c, sum(x) AS s, avg(y) AS m, last(n) AS l, " +
            "max_by(text, i) AS b, count(DISTINCT text) AS d, collect_list(n) AS every " +
            "FROM input_of_keep)")
        val columns = result.columns.sorted.map(result(_))
        result.where("k >= 0").select(to_json(struct(columns.toIndexedSeq: _*)))
      }
      withSQLConf(code: _*) {
        withClue(s"$byTime over $rows by $asking: ") {
          val table = query(Readings.columns(rows.toDF()), Readings.columns(asking.toDF()))
          val expected = table.collect().map(_.getString(0)).sorted.toSeq
          assert(expected.size == asking.size)
          val (ofRows, ofAsking) = (memoryStream[Reading], memoryStream[Reading])
          def timed(df: DataFrame) = Readings.columns(df).withWatermark("ts", Readings.Disorder)
          val written = new Written
          withTempDir { checkpoint =>
            val batches = Readings.batches(random, readings) :+ Seq(end)
            batches.grouped(2).foreach { some =>
              val running = start(
                query(timed(ofRows.toDF()), timed(ofAsking.toDF())),
                checkpoint.getCanonicalPath,
                written)
              try {
                some.foreach { batch =>
                  ofRows.addData(batch.filter(one => ofWindow(one.n)))
                  ofAsking.addData(batch.filter(one => ofOther(one.n)))
                  running.processAllAvailable()
                }
              } finally running.stop()
            }
          }
          assert(written.rows.map(_.getString(0)).sorted == expected)
        }
      }
    }
  }

  private val trades = Seq(
    Trade(Some("a"), at(1), 1, Some(1.0)),
    Trade(Some("b"), at(1), 2, Some(5.0)),
    Trade(Some("a"), at(2), 3, Some(2.0)),
    Trade(Some("a"), at(4), 4, Some(6.0)))

  private val asks = Seq(
    Ask(Some("a"), at(2), 0, None),
    Ask(Some("a"), at(5), 1, Some("late")),
    Ask(Some("z"), at(5), 2, None))

  private def refused(condition: String, part: String)(call: => DataFrame): Unit = {
    val error = intercept[Exception](call.collect())
    assert(error.asInstanceOf[SparkThrowable].getCondition == condition, error)
    assert(error.getMessage.contains(part), error.getMessage)
  }

  private def table(arguments: String, policy: String = "'KEEP 2 ROWS'"): DataFrame =
    lookup(tradesOf(trades.toDF()), asksOf(asks.toDF()), policy, arguments)

  test("the output has the columns of the row, then the aggregates, then the rows") {
    val found = table(s"lookup_contents => 'rows', $Aggregates")
    assert(found.columns.toSeq == Seq("sym", "placed", "id", "note", "c", "every", "rows"))
    val rows = found.orderBy("id").selectExpr("id", "note", "c", "every", "rows.n", "rows.k")
    assert(
      rows.collect().toSeq == Seq(
        Row(0, null, 2L, Seq(1, 3), Seq(1, 3), Seq("a", "a")),
        Row(1, "late", 2L, Seq(3, 4), Seq(3, 4), Seq("a", "a")),
        Row(2, null, 0L, Nil, Nil, Nil)))
    val onlyRows = table("lookup_contents => 'rows'")
    assert(onlyRows.where("id = 1").selectExpr("rows.x").head() == Row(Seq(2.0, 6.0)))
  }

  (1 to Runs).foreach { run =>
    property(
      s"rows of one time have the order of their source, whatever reads them: run $run",
      Longer)(checkTies)
  }

  /** Compares windows without ORDER BY with a list, over tables and over streams whose rows
    * arrive in their order. The rows that look up have no order.
    */
  private def checkTies(random: Random): Unit = {
    val (numbered, asks) = randomRows(random)
    val trades = renumbered(numbered)
    val window = naiveLookups(random)(random.nextInt(5))
    val before = random.nextBoolean()
    def query(arranged: DataFrame => DataFrame)(trades: DataFrame, asks: DataFrame): DataFrame =
      lookup(
        trades,
        arranged(asks),
        s"'${window.policy}'",
        s"lookup_before => $before, $Aggregates",
        order = "")
    val expected = naiveAnswers(window, trades, asks, before, isInner = false).map {
      case (ask, held) => shown(ask, held.map(_.n))
    }.sorted
    withClue(s"${window.policy}, before $before, $trades, $asks: ") {
      val others = Seq[DataFrame => DataFrame](
        identity,
        _.distinct(),
        _.repartition(3),
        _.orderBy($"id".desc),
        asks => {
          val joined = asks.join(asks.select("id").distinct(), "id")
          joined.select("sym", "placed", "id", "note")
        })
      others.foreach { arranged =>
        assert(onTables(trades, asks)(query(arranged)).map(shownRow).sorted == expected)
      }
      Seq[DataFrame => DataFrame](identity, _.repartition(3)).foreach { arranged =>
        val emitted = onStreams(random, trades, asks, inOrder = true)(query(arranged))
        assert(emitted.filter(_.getAs[Int]("id") >= 0).map(shownRow).sorted == expected)
      }
    }
  }

  /** Trades of one time, whose bytes sort in another order. */
  private val tied = Seq(5, 3, 4, 1, 2).map(n => Trade(Some("a"), at(1), n, None))

  private val later = (0 to 3).map(id => Ask(Some("a"), at(2), id, None))

  test("files of a table have their order, and streams in any micro-batches") {
    withTempDir { folder =>
      val path = s"$folder/trades"
      tied.toDF().coalesce(1).write.parquet(path)
      Seq[DataFrame => DataFrame](identity, _.distinct()).foreach { arranged =>
        val rows = tradesOf(spark.read.parquet(path))
        val found =
          lookup(rows, arranged(asksOf(later.toDF())), "'KEEP 3 ROWS'", Aggregates, order = "")
        assert(found.collect().map(shownRow).toSet == later.map(shown(_, Seq(4, 1, 2))).toSet)
      }
    }
    assertOrder(Seq(tied -> later))
    assertOrder(
      Seq(Nil -> later.take(1), tied.take(1) -> Nil, Nil -> later.tail, tied.tail -> Nil))
  }

  test("streams in other micro-batches have their order", Longer) {
    assertOrder(Seq(tied.take(2) -> Nil, Nil -> later, tied.drop(2) -> Nil))
    assertOrder(tied.map(Seq(_) -> Nil) :+ (Nil -> later))
  }

  /** Looks up trades of one time in some micro-batches, which may have rows of one stream only.
    */
  private def assertOrder(cut: Seq[(Seq[Trade], Seq[Ask])]): Unit = {
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val df = lookup(
      timedTrades(ofTrades, "0 seconds"),
      timedAsks(ofAsks, "0 seconds").repartition(2),
      "'KEEP 3 ROWS'",
      Aggregates,
      order = "")
    val keeps = df.queryExecution.analyzed.collect { case keep: Keep => keep }
    assert(keeps.map(keep => keep.followsSource -> keep.sourcePartition) == Seq(true -> None))
    val end = Seq(Trade(Some("end"), at(99), 0, None)) -> Seq(Ask(Some("end"), at(99), -1, None))
    assertAnswers(df, cut :+ end, cut) { case (trades, asks) =>
      ofTrades.addData(trades)
      ofAsks.addData(asks)
    }
  }

  /** Asserts the answers of a query over trades of one time.
    *
    * @param add
    *   adds the rows of a micro-batch to the streams
    */
  private def assertAnswers[A](df: DataFrame, batches: Seq[A], hint: Any)(add: A => Any): Unit =
    inTempDir { checkpoint =>
      val written = new Written
      val running = start(df, checkpoint, written)
      try {
        batches.foreach { batch =>
          add(batch)
          running.processAllAvailable()
        }
      } finally running.stop()
      val answers = written.rows.filter(_.getAs[Int]("id") >= 0).map(shownRow)
      assert(answers.toSet == later.map(shown(_, Seq(4, 1, 2))).toSet, hint)
    }

  private val (firstTwo, lastThree) = tied.splitAt(2)

  testEach(
    "rows of several partitions have the order of the partitions, whatever reads them",
    short = 2)(
    ("in one micro-batch", Seq((firstTwo, lastThree, later))),
    ("the last one first", Seq((Nil, lastThree, Nil), (Nil, Nil, later), (firstTwo, Nil, Nil))),
    (
      "in turn",
      Seq(
        (Nil, lastThree.take(1), later),
        (firstTwo, Nil, Nil),
        (Nil, lastThree.drop(1), Nil)))) { case (_, cut) =>
    val (ofOne, ofOther, ofAsks) = (memoryStream[Trade], memoryStream[Trade], memoryStream[Ask])
    val trades = tradesOf(ofOne.toDF().union(ofOther.toDF()))
    val df = lookup(
      trades.withWatermark("ts", "0 seconds"),
      timedAsks(ofAsks, "0 seconds").repartition(2),
      "'KEEP 3 ROWS'",
      Aggregates,
      order = "")
    val end = Seq(Trade(Some("end"), at(99), 0, None))
    assertAnswers(df, cut :+ ((end, end, Seq(Ask(Some("end"), at(99), -1, None)))), cut) {
      case (some, others, asks) =>
        ofOne.addData(some)
        ofOther.addData(others)
        ofAsks.addData(asks)
    }
  }

  test("in the order of arrival, a row with a time reads the windows at the clock of its group") {
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val df = lookup(
      timedTrades(ofTrades, "0 seconds"),
      timedAsks(ofAsks, "0 seconds"),
      "'KEEP 5 SECONDS'",
      s"apply => 'arrival', $Aggregates")
    def trade(second: Long, n: Int) = Trade(Some("a"), at(second), n, None)
    def ask(second: Long, id: Int) = Ask(Some("a"), at(second), id, None)
    inTempDir { checkpoint =>
      val written = new Written
      val running = start(df, checkpoint, written)
      def found(trades: Trade*)(ask: Ask): Seq[Int] = {
        if (trades.nonEmpty) ofTrades.addData(trades)
        ofAsks.addData(ask)
        running.processAllAvailable()
        val rows = written.rows.filter(_.getAs[Int]("id") == ask.id)
        assert(rows.size == 1)
        rows.head.getSeq[Int](rows.head.fieldIndex("every"))
      }
      try {
        // The clock of the group is that of the second trade, at which the first one has left.
        assert(found(trade(1, 1), trade(7, 2))(ask(2, 0)) == Seq(2))
        // A row that looks up moves the clock, at which the next one reads the window.
        assert(found()(ask(13, 1)) == Nil)
        assert(found()(ask(8, 2)) == Nil)
        assert(found(trade(14, 3))(ask(13, 3)) == Seq(3))
      } finally running.stop()
    }
  }

  test("in the order of arrival, the rows that look up need no order") {
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    ofTrades.addData(tied)
    ofAsks.addData(later)
    def query(trades: DataFrame): DataFrame = {
      ofAsks.toDF().repartition(4).createOrReplaceTempView("asks")
      keep(
        trades,
        "PARTITION BY (k), 'KEEP 3 ROWS', output => 'lookup', lookup => TABLE(asks), " +
          s"lookup_on => named_struct('k', 'sym'), $Aggregates")
    }
    inTempDir { checkpoint =>
      val answers = runAll(query(ofTrades.toDF()), checkpoint).rows.map(shownRow)
      assert(answers.toSet == later.map(shown(_, Seq(4, 1, 2))).toSet)
    }
    refused("WINOPS_ORDER_REQUIRED", "Repartition")(query(ofTrades.toDF().repartition(4)))
  }

  test("PARTITION BY and ORDER BY of a table in an argument are refused") {
    tradesOf(trades.toDF()).createOrReplaceTempView("trades")
    asksOf(asks.toDF()).createOrReplaceTempView("asks")
    def call(arguments: String): DataFrame = spark.sql(
      "SELECT * FROM keep(TABLE(trades) PARTITION BY (k), 'KEEP 2 ROWS', time => 'ts', " +
        s"output => 'lookup', lookup_on => named_struct('k', 'sym'), $arguments)")
    val aggregates = "aggregates => TABLE(SELECT count(*) AS c FROM trades)"
    refused("WINOPS_ARGUMENT.VALUE", "lookup") {
      call(s"lookup_time => 'placed', lookup => TABLE(asks) PARTITION BY (sym), $aggregates")
    }
    refused("WINOPS_ARGUMENT.VALUE", "aggregates") {
      call(s"lookup_time => 'placed', lookup => TABLE(asks), $aggregates PARTITION BY (c)")
    }
    refused("WINOPS_ARGUMENT.VALUE", "TABLE(history)") {
      spark.sql("SELECT * FROM with_history(TABLE(trades), TABLE(trades) PARTITION BY (k))")
    }
  }

  test("more rows than the array may have fail the query") {
    val error = intercept[Exception] {
      table("lookup_contents => 'rows', max_content => 1").collect()
    }
    assert(conditionsOf(error).contains("WINOPS_CONTENT_SIZE"))
    assert(error.getMessage.contains("lookup(max_rows=n)"))
  }

  test("several windows over rows that are stored once") {
    val windows = "windows => named_struct('two', 'KEEP 2 ROWS', 'all', 'KEEP ALL')"
    val query = "TABLE(SELECT sum(x) AS s, count(*) AS c FROM input_of_keep)"
    val of = "of_windows => named_struct('s', 'two', 'c', 'all')"
    val found = table(s"aggregates => $query, $of", windows).orderBy("id").select("id", "s", "c")
    assert(found.collect().toSeq == Seq(Row(0, 3.0, 2L), Row(1, 8.0, 3L), Row(2, null, 0L)))
  }

  test("the API for Scala gives the rows of the call in SQL") {
    val kept =
      winops.keep(tradesOf(trades.toDF()), "KEEP 2 ROWS", per = "k", orderBy = "n", time = "ts")
    val columns = Map("c" -> count("*"), "every" -> collect_list("n"))
    val found = kept.lookup(
      asksOf(asks.toDF()),
      columns,
      on = Map("k" -> "sym"),
      time = "placed",
      before = true,
      how = "inner",
      contents = "rows")
    val expected =
      table(
        s"lookup_before => true, lookup_how => 'inner', lookup_contents => 'rows', $Aggregates")
    assert(found.schema == expected.schema)
    assert(found.collect().toSet == expected.collect().toSet)
    assert(found.count() == 2)
  }

  test("aggregates have the order of the call") {
    val kept = winops.keep(tradesOf(trades.toDF()), "KEEP ALL", per = "k", time = "ts")
    val asking = asksOf(asks.toDF()).withColumnsRenamed(Map("sym" -> "k", "placed" -> "ts"))
    val names = (9 to 1 by -1).map(n => s"a$n")
    val columns = names.map(_ -> count("*"))
    assert(kept.lookup(asking, columns).columns.toSeq.drop(4) == names)
    val ordered = new ju.LinkedHashMap[String, Column]
    columns.foreach { case (name, column) => ordered.put(name, column) }
    val ofJava = kept.lookup(asking, ordered, ju.Map.of[String, String](), "ts")
    assert(ofJava.columns.toSeq.drop(4) == names)
  }

  test("a key of an expression and of a narrower type is that of the window") {
    val rows = tradesOf(trades.toDF()).selectExpr("upper(k) AS k", "ts", "n", "x", "1L AS v")
    asksOf(asks.toDF())
      .selectExpr("sym AS k", "1 AS venue", "placed AS ts", "id")
      .createOrReplaceTempView("asks")
    val found = keep(
      rows,
      "PARTITION BY (lower(k), v + 1) ORDER BY (n), 'KEEP ALL', time => 'ts', " +
        "output => 'lookup', lookup => TABLE(asks), lookup_on => named_struct('v', 'venue'), " +
        "aggregates => TABLE(SELECT count(*) AS c FROM input_of_keep)")
    assert(found.orderBy("id").select("c").collect().toSeq == Seq(Row(2L), Row(3L), Row(0L)))
    assert(found.columns.toSeq == Seq("k", "venue", "ts", "id", "c"))
  }

  test("a group key over the time column is that of the time of the row that looks up") {
    tradesOf((trades :+ Trade(Some("a"), at(100000), 9, None)).toDF())
      .createOrReplaceTempView("input_of_keep")
    asksOf((asks :+ Ask(Some("a"), at(100001), 3, None)).toDF()).createOrReplaceTempView("asks")
    def found(on: String): DataFrame = spark.sql(
      "SELECT * FROM keep(TABLE(input_of_keep) PARTITION BY (k, to_date(ts)), 'KEEP ALL', " +
        "time => 'ts', output => 'lookup', lookup => TABLE(asks), lookup_time => 'placed', " +
        s"lookup_on => named_struct($on), $Aggregates)")
    assert(
      found("'k', 'sym'").orderBy("id").select("id", "every").collect().toSeq ==
        Seq(Row(0, Seq(1, 3)), Row(1, Seq(1, 3, 4)), Row(2, Nil), Row(3, Seq(9))))
    refused("WINOPS_ARGUMENT.VALUE", "without TS, the time column of the windows") {
      found("'k', 'sym', 'TS', 'placed'")
    }
  }

  test("a column that is compared has the collation of that of the window") {
    val rows = tradesOf(trades.toDF()).selectExpr("k COLLATE UTF8_LCASE AS k", "ts", "n", "x")
    val asking = asksOf(asks.toDF()).selectExpr("upper(sym) AS sym", "placed", "id", "note")
    val collated = asking.withColumn("sym", expr("sym COLLATE UTF8_LCASE"))
    val two = "'KEEP 2 ROWS'"
    assert(
      lookup(rows, collated, two, Aggregates).orderBy("id").select("every").collect().toSeq ==
        Seq(Row(Seq(1, 3)), Row(Seq(3, 4)), Row(Nil)))
    refused("WINOPS_LOOKUP", "that look up has the type STRING, and the column k") {
      lookup(rows, asking, two, Aggregates)
    }
    refused("WINOPS_LOOKUP", "of another collation. Give one of the two columns") {
      lookup(tradesOf(trades.toDF()), collated, two, Aggregates)
    }
  }

  test("rows that update a row of the window, or delete it, are seen by later lookups") {
    val rows = Seq(("a", 1, "insert", 1.0), ("a", 2, "update", 3.0), ("a", 4, "delete", 0.0))
      .toDF("k", "sec", "op", "x")
      .selectExpr("k", "timestamp_seconds(sec) AS ts", "op", "1 AS id", "sec AS n", "x")
    Seq(1, 3, 4)
      .toDF("sec")
      .selectExpr("'a' AS k", "timestamp_seconds(sec) AS ts", "sec")
      .createOrReplaceTempView("asks")
    val found = keep(
      rows,
      "PARTITION BY (k) ORDER BY (n), 'KEEP ALL', time => 'ts', key => 'id', op => 'op', " +
        "output => 'lookup', lookup => TABLE(asks), lookup_contents => 'rows', " +
        "aggregates => TABLE(SELECT sum(x) AS s FROM input_of_keep)")
    assert(found.orderBy("sec").select("s").collect().toSeq == Seq(Row(1.0), Row(3.0), Row(null)))
    assert(!found.selectExpr("inline(rows)").columns.contains("op"))
  }

  testEach("late rows are counted, or emitted with a reason and without results", short = 1)(
    "emit",
    "drop") { late =>
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val df = lookup(
      timedTrades(ofTrades, "0 seconds"),
      timedAsks(ofAsks, "0 seconds"),
      "'KEEP 2 ROWS'",
      s"late => '$late', $Aggregates")
    inTempDir { checkpoint =>
      val written = new Written
      val running = start(df, checkpoint, written)
      try {
        ofTrades.addData(trades :+ Trade(Some("end"), at(9), 9, None))
        ofAsks.addData(asks :+ Ask(Some("end"), at(9), 9, None))
        running.processAllAvailable()
        assert(written.rows.map(_.getAs[Int]("id")).toSet == Set(0, 1, 2))
        ofTrades.addData(Trade(Some("a"), at(3), 5, None))
        ofAsks.addData(Ask(Some("a"), at(3), 7, None))
        running.processAllAvailable()
        val progress = progressOf(running).flatMap(_.stateOperators)
        assert(progress.map(_.numRowsDroppedByWatermark).sum == 2)
        assert(progress.map(_.customMetrics.get("rowsLookedUp").longValue).sum == 3)
      } finally running.stop()
      val ofLate = written.rows.filter(_.getAs[Int]("id") == 7)
      if (late == "drop") assert(ofLate.isEmpty)
      else {
        assert(ofLate.map(_.toSeq.takeRight(3)) == Seq(Seq(null, null, "late")))
        assert(written.rows.filterNot(ofLate.contains).forall(_.isNullAt(6)))
      }
    }
  }

  test("late => 'emit' loses no row of a window that cannot be applied") {
    val emit = s"late => 'emit', $Aggregates"
    def condition(call: => DataFrame): Option[String] =
      conditionsOf(intercept[Exception](call.collect())).find(_.startsWith("WINOPS"))
    val (rows, asking) = (tradesOf(trades.toDF()), asksOf(asks.toDF()))
    assert(condition(table(s"max_rows => 2, $emit", "'KEEP ALL'")).contains("WINOPS_MAX_ROWS"))
    val untimed = rows.withColumn("ts", expr("CASE WHEN n != 3 THEN ts END"))
    assert(condition(lookup(untimed, asking, "'KEEP ALL'", emit)).contains("WINOPS_NULL_TIME"))
    val dropping = lookup(untimed, asking, "'KEEP ALL'", s"on_null_time => 'drop', $emit")
    assert(dropping.orderBy("id").select("every").head() == Row(Seq(1)))
    def keyed(id: String, op: String, arguments: String = emit): DataFrame = lookup(
      rows.selectExpr("*", s"$id AS id", s"$op AS op"),
      asking,
      "'KEEP ALL', key => 'id', op => 'op'",
      arguments)
    assert(condition(keyed("n", "if(n = 3, 'nonsense', 'insert')")).contains("WINOPS_OP_UNKNOWN"))
    assert(condition(keyed("nullif(n, 3)", "'insert'")).contains("WINOPS_KEY_NULL"))
    // An insert of a key that the window holds has no effect, with and without late.
    val heldTwice = Seq(emit, Aggregates).map { arguments =>
      keyed("1", "'insert'", arguments).orderBy("id").select("id", "every").collect().toSeq
    }
    assert(heldTwice.distinct == Seq(Seq(Row(0, Seq(1)), Row(1, Seq(1)), Row(2, Nil))))
  }

  test("late => 'emit' emits rows that look up without a time, and no row of a window") {
    val untimed =
      asksOf(asks.toDF()).withColumn("placed", expr("CASE WHEN id != 1 THEN placed END"))
    Seq("", "on_null_time => 'error', ", "on_null_time => 'drop', ").foreach { onNullTime =>
      val found = lookup(
        tradesOf(trades.toDF()),
        untimed,
        "'KEEP ALL'",
        s"${onNullTime}late => 'emit', $Aggregates")
      assert(
        found.orderBy("id").select("id", "every", "_change_reason").collect().toSeq ==
          Seq(Row(0, Seq(1, 3), null), Row(1, null, "time missing"), Row(2, Nil, null)))
    }
  }

  testEach("rows that wait count for max_rows, whether or not late ones are emitted", short = 1)(
    "emit",
    "drop") { late =>
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val df = lookup(
      timedTrades(ofTrades),
      timedAsks(ofAsks),
      "'KEEP ALL'",
      s"max_rows => 2, late => '$late', $Aggregates")
    ofTrades.addData(trades.take(1))
    ofAsks.addData(asks.take(1))
    inTempDir { checkpoint =>
      assert(runAll(df, checkpoint).rows.isEmpty)
      ofAsks.addData(asks.slice(1, 2))
      assert(conditionsOf(failureOf(df, checkpoint)).contains("WINOPS_MAX_ROWS"))
    }
  }

  test("a silent stream holds the rows of the other one back") {
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val df = lookup(
      timedTrades(ofTrades, "0 seconds"),
      timedAsks(ofAsks, "0 seconds"),
      "'KEEP 2 ROWS'",
      Aggregates)
    inTempDir { checkpoint =>
      val written = new Written
      val running = start(df, checkpoint, written)
      try {
        ofTrades.addData(trades)
        ofAsks.addData(asks)
        running.processAllAvailable()
        ofTrades.addData(Trade(Some("end"), at(100), 9, None))
        running.processAllAvailable()
        assert(written.rows.map(_.getAs[Int]("id")) == Seq(0))
        ofAsks.addData(Ask(Some("end"), at(100), 9, None))
        running.processAllAvailable()
        assert(written.rows.map(_.getAs[Int]("id")).toSet == Set(0, 1, 2))
      } finally running.stop()
    }
  }

  test("windows that start with a table answer as if its rows had come first", Longer) {
    val (early, late) = trades.partition(_.micros < at(3))
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val started = winops.withHistory(timedTrades(ofTrades, "0 seconds"), tradesOf(early.toDF()))
    val df =
      lookup(started, timedAsks(ofAsks, "0 seconds"), "'KEEP 2 ROWS'", Aggregates)
    val asking = Ask(Some("a"), at(3), 3, None) +: asks.filter(_.micros > at(3))
    ofTrades.addData(late :+ Trade(Some("end"), at(9), 9, None))
    ofAsks.addData(asking :+ Ask(Some("end"), at(9), 9, None))
    inTempDir { checkpoint =>
      assert(
        runAll(df, checkpoint).rows.map(shownRow).sorted == Seq(
          shown(asks(1), Seq(3, 4)),
          shown(asks(2), Nil),
          shown(asking.head, Seq(1, 3))).sorted)
    }
  }

  test("in the order of arrival, rows read the windows in the micro-batch in which they come") {
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    ofAsks.toDF().createOrReplaceTempView("asks")
    val df = keep(
      ofTrades.toDF(),
      "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS', output => 'lookup', " +
        s"lookup => TABLE(asks), lookup_on => named_struct('k', 'sym'), $Aggregates")
    inTempDir { checkpoint =>
      val written = new Written
      val running = start(df, checkpoint, written)
      try {
        asks.take(2).zip(trades.filter(_.k.contains("a"))).foreach { case (ask, trade) =>
          ofAsks.addData(ask)
          running.processAllAvailable()
          ofTrades.addData(trade)
          running.processAllAvailable()
        }
        assert(written.rows.map(shownRow) == Seq(shown(asks(0), Nil), shown(asks(1), Seq(1))))
      } finally running.stop()
    }
  }

  test("rows that look up are neither held nor keep a group alive") {
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val df = lookup(
      timedTrades(ofTrades, "0 seconds"),
      timedAsks(ofAsks, "0 seconds"),
      "'KEEP 2 ROWS'",
      s"idle => '3 seconds', $Aggregates")
    inTempDir { checkpoint =>
      val running = start(df, checkpoint, new Written)
      try {
        ofTrades.addData(trades.filter(_.k.contains("b")) :+ Trade(None, at(9), 9, None))
        ofAsks.addData((2 to 9).map(second => Ask(Some("b"), at(second), second, None)))
        running.processAllAvailable()
        val state = progressOf(running).last.stateOperators.head.customMetrics
        assert(state.get("rowsHeld").longValue == 2)
        assert(state.get("rowsWaiting").longValue == 2)
      } finally running.stop()
    }
  }

  test("calls that cannot be answered are refused") {
    val (stream, other) = (memoryStream[Trade], memoryStream[Ask])
    val (rows, asking) = (tradesOf(trades.toDF()), asksOf(asks.toDF()))
    val two = "'KEEP 2 ROWS'"
    refused("WINOPS_LOOKUP", "a table looks up the windows of a stream") {
      lookup(timedTrades(stream), asking, two, Aggregates)
    }
    refused("WINOPS_LOOKUP", "a stream looks up the windows of a table") {
      lookup(rows, timedAsks(other), two, Aggregates)
    }
    refused(
      "WINOPS_WATERMARK_REQUIRED",
      "The time column placed of the rows that look up has no watermark") {
      lookup(timedTrades(stream), asksOf(other.toDF()), two, Aggregates)
    }
    refused("WINOPS_LOOKUP", "depend on each other") {
      table(Aggregates, "spl => 'sliding, count(2), partitioned, partitionCount(2)'")
    }
    refused("WINOPS_LOOKUP", "time='column' of keep (in SQL time => 'column')") {
      table(s"apply => 'arrival', $Aggregates")
    }
    refused("WINOPS_LOOKUP", "has the type INT") {
      lookup(rows, asking.selectExpr("id AS sym", "id AS placed", "id"), two, Aggregates)
    }
    refused("WINOPS_LOOKUP", "a string equals no value of another type. Write CAST(sym AS") {
      lookup(rows, asking.withColumn("sym", $"id"), two, Aggregates)
    }
    refused("WINOPS_LOOKUP", "in SQL lookup_on => named_struct('k', 'column')") {
      lookup(rows, asking.drop("sym"), two, Aggregates)
    }
    refused("WINOPS_LOOKUP", "time='column', in SQL lookup_time => 'column'") {
      lookup(rows, asking.drop("placed"), two, Aggregates)
    }
    refused("WINOPS_LOOKUP", "2 columns sym for the column k of the group key. Rename") {
      lookup(rows, asking.selectExpr("*", "sym AS SYM"), two, Aggregates)
    }
    refused("WINOPS_LOOKUP", "2 time columns placed. Rename") {
      lookup(rows, asking.selectExpr("*", "placed AS placed"), two, Aggregates)
    }
    refused("WINOPS_ARGUMENT.UNKNOWN", "the windows have no group key") {
      asking.createOrReplaceTempView("asks")
      keep(
        rows,
        s", $two, time => 'ts', output => 'lookup', lookup => TABLE(asks), " +
          s"lookup_on => named_struct('k', 'sym'), lookup_time => 'placed', $Aggregates")
    }
    refused("WINOPS_ARGUMENT.UNKNOWN", "the group key refers to no column but the time") {
      asking.createOrReplaceTempView("asks")
      keep(
        rows,
        s"PARTITION BY (to_date(ts)), $two, time => 'ts', output => 'lookup', " +
          "lookup => TABLE(asks), lookup_on => named_struct('k', 'sym'), " +
          s"lookup_time => 'placed', $Aggregates")
    }
    refused("WINOPS_LOOKUP", "not every value") {
      lookup(rows.selectExpr("n AS k", "ts", "n"), asking, two, Aggregates)
    }
    refused("WINOPS_LOOKUP", "the rows of the windows have a column _LOOKUP") {
      lookup(rows.withColumn("_LOOKUP", $"n"), asking, two, Aggregates)
    }
    refused("WINOPS_COLUMN_CONFLICT", "The rows that look up have a column note") {
      table("aggregates => TABLE(SELECT count(*) AS note FROM input_of_keep)")
    }
    refused("WINOPS_COLUMN_CONFLICT", "Give another name with contents=") {
      table("lookup_contents => 'note'")
    }
    refused("WINOPS_ARGUMENT.VALUE", "every is the name of one") {
      table(s"lookup_contents => 'every', $Aggregates")
    }
    refused("WINOPS_ARGUMENT.VALUE", "another name than _change_reason") {
      table(s"lookup_contents => '_change_reason', late => 'emit', $Aggregates")
    }
    refused("WINOPS_AGGREGATES", "GROUP BY") {
      table("aggregates => TABLE(SELECT k, count(*) AS c FROM input_of_keep GROUP BY k)")
    }
    refused("WINOPS_LOOKUP", "which only the windows can") {
      lookup(timedTrades(stream), winops.withHistory(timedAsks(other), asking), two, Aggregates)
    }
    refused("WINOPS_ARGUMENT.MISSING", "lookup_contents")(table("lookup_how => 'left'"))
    refused("WINOPS_ARGUMENT.VALUE", "lookup_how")(table(s"lookup_how => 'outer', $Aggregates"))
    refused("WINOPS_ARGUMENT.UNKNOWN", "lookup_how") {
      keep(rows, s"PARTITION BY (k), $two, time => 'ts', lookup_how => 'left'")
    }
    refused("WINOPS_ARGUMENT.MISSING", "lookup") {
      keep(rows, s"PARTITION BY (k), $two, time => 'ts', output => 'lookup', $Aggregates")
    }
  }

  test("operators behind a lookup are told which watermark it has") {
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val (rows, asking) = (timedTrades(ofTrades), timedAsks(ofAsks))
    def advice(df: DataFrame): (String, String) = inTempDir { checkpoint =>
      val error = intercept[AnalysisException](start(df, checkpoint, new Written))
      (error.getCondition, error.getMessage)
    }
    val perTime = window($"placed", "10 seconds")
    val emitting = lookup(rows, asking, "'KEEP 2 ROWS'", s"late => 'emit', $Aggregates")
    val waiting =
      joinedByKey(asking, rows, direction = "nearest", tolerance = Interval.ofText("2 seconds"))
    Seq(emitting -> "Omit late='emit'", waiting -> "Write the rows to a table").foreach {
      case (df, remedy) =>
        val (condition, message) = advice(df.groupBy(perTime).count())
        assert(condition == "WINOPS_WATERMARK_LOST")
        assert(message.contains(remedy) && !message.contains("inserts()"), message)
        val (again, redefined) = advice(df.withWatermark("placed", "1 minute"))
        assert(again == "WINOPS_WATERMARK_REDEFINED")
        assert(redefined.contains(remedy), redefined)
        assert(!redefined.contains("inserts()") && !redefined.contains("_as_of"), redefined)
    }
    val answered = lookup(rows, asking, "'KEEP 2 ROWS'", Aggregates)
    val joined = joinedByKey(asking, rows)
    Seq(answered -> "lookup(..., time='placed')", joined -> "The aggregation over the as-of join")
      .foreach { case (df, below) =>
        val (condition, message) = advice(df.groupBy("sym").count())
        assert(condition == "WINOPS_WATERMARK_COLUMN")
        assert(message.contains(below) && message.contains("watermark is placed"), message)
      }
  }

  test("EXPLAIN names the lookup, and one shuffle has the rows of both") {
    val plan = table(s"lookup_before => true, $Aggregates").queryExecution
    val text = plan.optimizedPlan.toString
    assert(text.contains("time [ts] applied by event_time, output [lookup], before the time"))
    assert("Exchange hashpartitioning".r.findAllIn(plan.executedPlan.toString).size == 1)
    // Rows of one time and one n are in the order of the table, so no other column is needed.
    def readsX(plan: LogicalPlan): Boolean =
      plan.collect { case project: Project => project.output }.flatten.exists(_.name == "x")
    val least = "aggregates => TABLE(SELECT min(x) AS least FROM input_of_keep)"
    assert(!readsX(plan.optimizedPlan))
    assert(readsX(table(s"lookup_before => true, $least").queryExecution.optimizedPlan))
  }

  test("the tab Windows says that rows look the window up") {
    val kept = table(s"lookup_before => true, $Aggregates").queryExecution.analyzed
    val texts = kept.collect { case keep: Keep => KeepDescriber.text(keep) }
    assert(texts.size == 1)
    assert(
      texts.head.endsWith(
        "Each row of another input looks the rows of its group up, before the rows of its time."))
  }

  test("aggregates of fractions are those of withColumns, to the bit") {
    val random = new Random(5)
    val (some, _) = randomRows(random)
    val rows = some.map(_.copy(k = Some("a"))).zipWithIndex.map { case (row, i) =>
      row.copy(micros = at(1) + i * 1000L)
    }
    val kept =
      winops.keep(tradesOf(rows.toDF()), "KEEP 7 ROWS", per = "k", orderBy = "n", time = "ts")
    def bits(df: DataFrame): Seq[Option[Long]] =
      df.orderBy("ts").select("m").collect().toSeq.map { row =>
        Option.when(!row.isNullAt(0))(java.lang.Double.doubleToLongBits(row.getDouble(0)))
      }
    val asking = tradesOf(rows.toDF()).select("k", "ts")
    withSQLConf(CompiledCode.Compiled: _*) {
      assert(
        bits(kept.lookup(asking, Map("m" -> avg("x")))) ==
          bits(kept.withColumn("m", avg("x")).select("k", "ts", "m")))
    }
  }
}

private object LookupSuite {
  private val Runs = 12

  val Aggregates: String =
    "aggregates => TABLE(SELECT count(*) AS c, collect_list(n) AS every FROM input_of_keep)"

  /** Microseconds of a time in seconds. */
  def at(seconds: Long): Long = seconds * 1000000L

  def shown(ask: Ask, held: Seq[Int]): String =
    s"${ask.id} ${ask.note} ${held.size} ${held.toList}"

  def shownRow(row: Row): String = {
    val held = row.getSeq[Int](row.fieldIndex("every"))
    s"${row.getAs[Int]("id")} ${Option(row.getAs[String]("note"))} ${row.getAs[Long]("c")} " +
      s"${held.toList}"
  }
}
