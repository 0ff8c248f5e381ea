package winops.spark.execution

import java.sql.Timestamp
import java.time.Instant
import java.time.temporal.ChronoUnit

import scala.util.Random

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.catalyst.expressions.{And, Attribute, CurrentTimestamp, EqualTo, Expression, GreaterThan, Greatest, IsNull, LessThan, Literal, Or, ScalarSubquery}
import org.apache.spark.sql.catalyst.plans.{AsOfJoinDirection, Inner, JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical.AsOfJoin
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.{expr, window}
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.apache.spark.sql.types.{DayTimeIntervalType, TimestampType}
import org.apache.spark.sql.winops.testing.PlannedQuery

import winops.Interval
import winops.spark.analysis.{AsOfSettings, CheckKeep}
import winops.spark.over.OverSettings
import winops.spark.plan.{Keep, KeepSpec}
import winops.spark.testing.{Ask, LookupTest, RandomProperties, Trade}
import winops.testing.{Longer, TableTests}

/** Joins as of a time, as a function and as Spark's own plan node over streams. */
class AsOfJoinSuite extends LookupTest with RandomProperties with TableTests {
  import AsOfJoinSuite._
  import testImplicits._

  (1 to Runs).foreach { run =>
    property(s"a row is joined with the nearest one: run $run", Longer.unless(run == 1): _*)(
      checkNaive)
  }

  /** Compares each direction with a list, over tables; the streams of one of them, too. */
  private def checkNaive(random: Random): Unit = {
    val (numbered, asks) = randomRows(random)
    val trades = renumbered(numbered)
    val streamed = Directions(random.nextInt(Directions.size))
    Directions.foreach { direction =>
      val isStreamed = direction == streamed
      val call = Call(
        direction,
        isExact = random.nextBoolean(),
        isInner = random.nextBoolean(),
        millis = Option.when(isStreamed && direction != "backward" || random.nextBoolean())(
          random.nextInt(6)))
      val expected = asks.map(ask => ask -> matchOf(call, trades, ask)).filter {
        case (_, found) => found.isDefined || !call.isInner
      }
      withClue(s"$call, $trades, $asks: ") {
        val answers = expected.map { case (ask, found) => (ask.id, found.map(_.n)) }.sorted
        // The order of the asks has no effect. Among trades of one time it decides.
        val joined = onTables(trades, asks) { (trades, asks) =>
          query(call)(trades, if (random.nextBoolean()) asks.distinct() else asks)
        }
        assert(answersOf(joined) == answers)
        assert(
          joined.map(row => (row.getAs[Int]("id"), row.getAs[Timestamp]("ts"))).sortBy(_._1) ==
            expected
              .map { case (ask, found) => (ask.id, found.map(timeOf).orNull) }
              .sortBy(_._1))
        if (isStreamed) {
          val emitted = onStreams(random, trades, asks, inOrder = true) { (trades, asks) =>
            query(call)(trades, if (random.nextBoolean()) asks.repartition(3) else asks)
          }
          assert(answersOf(emitted) == answers)
        }
      }
    }
  }

  private def query(call: Call)(trades: DataFrame, asks: DataFrame): DataFrame = joinedByKey(
    asks,
    trades,
    direction = call.direction,
    tolerance = call.millis.map(n => Interval.ofText(s"$n milliseconds")).orNull,
    allowExactMatches = call.isExact,
    how = if (call.isInner) "inner" else "left")

  private val trades = Seq(
    Trade(Some("a"), at(1), 1, Some(1.0)),
    Trade(Some("b"), at(1), 2, Some(5.0)),
    Trade(Some("a"), at(4), 4, Some(6.0)),
    Trade(None, at(1), 5, None))

  private val asks = Seq(
    Ask(Some("a"), at(1), 0, None),
    Ask(Some("a"), at(3), 1, None),
    Ask(Some("a"), at(9), 2, None),
    Ask(Some("z"), at(5), 3, None),
    Ask(None, at(5), 4, None))

  /** Spark's own join of the two, which pandas-on-Spark makes. */
  private def ofSpark(
      trades: DataFrame,
      asks: DataFrame,
      direction: String = "backward",
      isExact: Boolean = true,
      joinType: JoinType = LeftOuter,
      seconds: Option[Long] = None,
      also: (String => Attribute) => Option[Expression] = _ => None,
      leftTime: Attribute => Expression = identity[Expression])(
      condition: (Attribute, Attribute) => Expression = EqualTo(_, _)): DataFrame = {
    val (left, right) = (PlannedQuery.planOf(asks), PlannedQuery.planOf(trades))
    def named(columns: Seq[Attribute], name: String) = columns.find(_.name == name).get
    val on = condition(named(left.output, "sym"), named(right.output, "k"))
    val join = AsOfJoin(
      left,
      right,
      leftTime(named(left.output, "placed")),
      named(right.output, "ts"),
      Some(also(named(left.output ++ right.output, _)).foldLeft(on)(And(_, _))),
      joinType,
      seconds.map(n => Literal(at(n), DayTimeIntervalType())),
      isExact,
      AsOfJoinDirection(direction))
    PlannedQuery.of(spark, join)
  }

  private def answersOf(rows: Seq[Row]): Seq[(Int, Option[Int])] =
    rows.map(row => (row.getAs[Int]("id"), intOf(row, "n"))).filter(_._1 >= 0).sorted

  testEach("Spark's own join over two streams has the rows of the tables", short = 3)(
    OwnJoin(
      "forward, inner, not exact",
      ofSpark(_, _, "forward", isExact = false, joinType = Inner, seconds = Some(3))(),
      Seq(1 -> Some(4))),
    // A condition over the right side chooses among its rows.
    OwnJoin(
      "forward, a condition over the right side with NULL",
      ofSpark(
        _,
        _,
        "forward",
        seconds = Some(3),
        also = column => Some(Or(LessThan(column("n"), Literal(4)), IsNull(column("n")))))(),
      Seq(0 -> Some(1), 1 -> None, 2 -> None, 3 -> None, 4 -> None)),
    // A row that does not satisfy a condition over the left side has no match.
    OwnJoin(
      "a condition over the left side",
      ofSpark(_, _, also = column => Some(GreaterThan(column("id"), Literal(1))))(),
      Seq(0 -> None, 1 -> None, 2 -> Some(4), 3 -> None, 4 -> None)),
    OwnJoin(
      "backward",
      ofSpark(_, _)(),
      Seq(0 -> Some(1), 1 -> Some(1), 2 -> Some(4), 3 -> None, 4 -> None)),
    OwnJoin(
      "not exact",
      ofSpark(_, _, isExact = false)(),
      Seq(0 -> None, 1 -> Some(1), 2 -> Some(4), 3 -> None, 4 -> None)),
    OwnJoin(
      "inner",
      ofSpark(_, _, joinType = Inner)(),
      Seq(0 -> Some(1), 1 -> Some(1), 2 -> Some(4))),
    OwnJoin(
      "a tolerance",
      ofSpark(_, _, seconds = Some(3))(),
      Seq(0 -> Some(1), 1 -> Some(1), 2 -> None, 3 -> None, 4 -> None)),
    OwnJoin(
      "inner, a tolerance",
      ofSpark(_, _, joinType = Inner, seconds = Some(3))(),
      Seq(0 -> Some(1), 1 -> Some(1))),
    OwnJoin(
      "forward",
      ofSpark(_, _, "forward", seconds = Some(3))(),
      Seq(0 -> Some(1), 1 -> Some(4), 2 -> None, 3 -> None, 4 -> None)),
    OwnJoin(
      "a condition over the right side",
      ofSpark(_, _, also = column => Some(LessThan(column("n"), Literal(4))))(),
      Seq(0 -> Some(1), 1 -> Some(1), 2 -> Some(1), 3 -> None, 4 -> None)),
    OwnJoin(
      "inner, a condition over the left side",
      ofSpark(
        _,
        _,
        joinType = Inner,
        also = column => Some(GreaterThan(column("id"), Literal(1))))(),
      Seq(2 -> Some(4))),
    OwnJoin(
      "no match",
      ofSpark(_, _, also = _ => Some(Literal.FalseLiteral))(),
      (0 to 4).map(_ -> None)),
    OwnJoin(
      "forward, a condition over the left side",
      ofSpark(
        _,
        _,
        "forward",
        seconds = Some(3),
        also = column => Some(GreaterThan(column("id"), Literal(0))))(),
      Seq(0 -> None, 1 -> Some(4), 2 -> None, 3 -> None, 4 -> None))) { one =>
    assert(answersOf(onTables(trades, asks)(one.query)) == one.expected)
    val random = new Random(one.name.hashCode)
    assert(answersOf(onStreams(random, trades, asks)(one.query)) == one.expected)
  }

  test("the join has Spark's columns, and an aggregation may follow") {
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val joined = ofSpark(timedTrades(ofTrades, "0 seconds"), timedAsks(ofAsks, "0 seconds"))()
    val ofTables = ofSpark(tradesOf(trades.toDF()), asksOf(asks.toDF()))()
    assert(joined.columns.toSeq == ofTables.columns.toSeq)
    val counts = joined.groupBy(window($"placed", "10 seconds")).count()
    ofTrades.addData(trades :+ Trade(Some("end"), at(99), 99, None))
    ofAsks.addData(asks :+ Ask(Some("end"), at(99), 99, None))
    val written = inTempDir(runAll(counts.select("count"), _))
    assert(written.rows == Seq(Row(asks.size.toLong)))
  }

  test("a stream joins itself, and equal names get suffixes") {
    val stream = memoryStream[Trade]
    val timed = timedTrades(stream, "0 seconds")
    val joined =
      winops.asofJoin(timed, timed, on = "ts", by = Seq("k"), allowExactMatches = false)
    assert(joined.columns.toSeq == Seq("k", "ts", "n_x", "x_x", "n_y", "x_y"))
    stream.addData(trades :+ Trade(Some("end"), at(99), 99, None))
    val written = inTempDir(runAll(joined, _))
    val found = written.rows.map(row => (row.getAs[Int]("n_x"), intOf(row, "n_y"))).sorted
    assert(found == Seq(1 -> None, 2 -> None, 4 -> Some(1), 5 -> None))
  }

  test("suffixes that give two columns one name are refused") {
    val rows = tradesOf(trades.toDF())
    def join(left: Seq[String], right: Seq[String], suffixes: (String, String)): DataFrame =
      winops.asofJoin(
        rows.selectExpr("ts" +: left: _*),
        rows.selectExpr("ts" +: right: _*),
        on = "ts",
        suffixes = suffixes)
    def fails(df: => DataFrame, column: String, other: String): Unit = {
      val error = intercept[AnalysisException](df)
      assert(error.getCondition == "WINOPS_COLUMN_CONFLICT", error)
      Seq(s"a column $column", other, "suffixes").foreach { part =>
        assert(error.getMessage.contains(part), error.getMessage)
      }
    }
    val (x, y) = ("x", "n AS x_y")
    fails(
      join(Seq(x, y), Seq(x), "_x" -> "_y"),
      "x_y of the left side",
      "x of the right side have the name x_y")
    fails(
      join(Seq(x), Seq(x, "n AS X_X"), "_x" -> "_y"),
      "x of the left side",
      "X_X of the right side have the name X_X")
    fails(
      join(Seq(x, "n AS x_x"), Seq(x), "_x" -> "_y"),
      "x of the left side",
      "x_x of the left side have the name x_x")
    fails(
      join(Seq(x), Seq(x), "" -> ""),
      "x of the left side",
      "x of the right side have the name x")
    assert(join(Seq(x, y), Seq(x), "_1" -> "_2").columns.toSeq == Seq("ts", "x_1", "x_y", "x_2"))
    // Columns of one side may have one name, as in other queries.
    assert(
      join(Seq(x, "n AS x"), Seq(x), "_1" -> "_2").columns.toSeq ==
        Seq("ts", "x_1", "x_1", "x_2"))
  }

  test("joins that a stream cannot have are refused") {
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val (trades, asks) = (timedTrades(ofTrades), timedAsks(ofAsks))
    def startFails(df: => DataFrame, part: String): Unit = inTempDir { checkpoint =>
      val error = intercept[AnalysisException](start(df, checkpoint, new Written))
      assert(error.getCondition == "WINOPS_ASOF_JOIN" && error.getMessage.contains(part), error)
    }
    startFails(ofSpark(trades, asks, "forward")(), "may come later")
    startFails(ofSpark(trades, asks, "nearest")(), "direction nearest and a tolerance")
    startFails(
      ofSpark(trades, asks, "nearest", seconds = Some(3))(),
      "direction nearest and a tolerance")
    startFails(ofSpark(trades, asks)(LessThan(_, _)), "no equality")
    startFails(
      ofSpark(trades, asks, also = column => Some(LessThan(column("ts"), CurrentTimestamp())))(),
      "may differ")
    val most = ScalarSubquery(PlannedQuery.planOf(Seq(3).toDF("most")))
    startFails(
      ofSpark(trades, asks, also = column => Some(LessThan(column("n"), most)))(),
      "has a subquery")
    startFails(
      ofSpark(trades, asks, leftTime = time => Greatest(Seq(time, Literal(0L, TimestampType))))(),
      "does not compare a column of each side")
    def callFails(condition: String, part: String)(df: => DataFrame): Unit = {
      val error = intercept[Exception](df)
      assert(error.asInstanceOf[SparkThrowable].getCondition == condition, error)
      assert(error.getMessage.contains(part), error.getMessage)
    }
    val table = asksOf(Seq.empty[Ask].toDF())
    callFails("WINOPS_ASOF_JOIN", "forward")(query(Call("forward"))(trades, asks))
    callFails("WINOPS_ASOF_JOIN", "a stream and the other one a table") {
      query(Call("backward"))(trades, table)
    }
    startFails(ofSpark(trades, table)(), "a stream and the other one a table")
    callFails("WINOPS_ARGUMENT.VALUE", "direction")(query(Call("sideways"))(trades, asks))
    callFails("WINOPS_ARGUMENT.MISSING", "on")(winops.asofJoin(asks, trades))
    callFails("WINOPS_TIME_TYPE", "The time column id of the left side of the as-of join") {
      winops.asofJoin(asks, trades, leftOn = "id", rightOn = "n")
    }
    callFails("WINOPS_UNKNOWN_COLUMN", "no column when, which the argument left_on names") {
      winops.asofJoin(asks, trades, leftOn = "when", rightOn = "ts")
    }
    callFails("WINOPS_ASOF_JOIN", "ts of the right side has the type TIMESTAMP_NTZ") {
      winops.asofJoin(
        asks,
        trades.withColumn("ts", $"ts".cast("timestamp_ntz")),
        leftOn = "placed",
        rightOn = "ts")
    }
    callFails("WINOPS_ARGUMENT.UNKNOWN", "idle") {
      winops.asofJoin(
        asks,
        trades,
        leftOn = "placed",
        rightOn = "ts",
        direction = "forward",
        tolerance = Interval.ofText("5 seconds"),
        idle = Interval.ofText("5 seconds"))
    }
    callFails("WINOPS_ASOF_JOIN", "the left side starts with a table") {
      query(Call("backward"))(trades, winops.withHistory(asks, table))
    }
    Seq("forward" -> "99999 days", "nearest" -> "49999 days").foreach {
      case (direction, greatest) =>
        callFails("WINOPS_ARGUMENT.VALUE", s"at most '$greatest'") {
          joinedByKey(
            asks,
            trades,
            direction = direction,
            tolerance = Interval.ofText("100000 days"))
        }
        assert(
          joinedByKey(
            asks,
            trades,
            direction = direction,
            tolerance = Interval.ofText(greatest)).isStreaming)
    }
    callFails("WINOPS_ARGUMENT.VALUE", "'5 seconds', without months and years, and not 'soon'") {
      joinedByKey(asks, trades, tolerance = Interval.ofText("soon"))
    }
    callFails("WINOPS_ARGUMENT.VALUE", "zero or more") {
      joinedByKey(asks, trades, tolerance = Interval.ofText("-1 seconds"))
    }
    callFails("WINOPS_ARGUMENT.VALUE", "late") {
      winops.asofJoin(asks, trades, leftOn = "placed", rightOn = "ts", late = "never")
    }
  }

  test("a time column without a watermark is named as the call names it") {
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val (trades, asks) = (tradesOf(ofTrades.toDF()), asksOf(ofAsks.toDF()))
    def fails(column: String)(df: => DataFrame): Unit = {
      val error = intercept[AnalysisException](df)
      assert(error.getCondition == "WINOPS_WATERMARK_REQUIRED", error)
      val side = if (column == "placed") "left" else "right"
      assert(error.getMessage.contains(s"$column of the $side side of the as-of join"), error)
      assert(error.getMessage.contains(s"withWatermark('$column', "), error.getMessage)
    }
    Directions.foreach { direction =>
      val call = query(Call(direction, millis = Some(3))) _
      fails("placed")(call(timedTrades(ofTrades), asks))
      fails("ts")(call(trades, timedAsks(ofAsks)))
      if (direction != "nearest") {
        fails("placed") {
          ofSpark(timedTrades(ofTrades), asks, direction, seconds = Some(3))()
        }
      }
    }
    val other = timedTrades(ofTrades).withColumn("at", expr("ts + INTERVAL 1 SECOND"))
    val onOther = intercept[AnalysisException] {
      winops.asofJoin(timedAsks(ofAsks), other, leftOn = "placed", rightOn = "at")
    }
    assert(onOther.getMessage.contains("The column with the watermark is ts: join by its times"))
  }

  /** Two trades of one time, of which the first one has the greater bytes. */
  private val tied = Seq(
    Trade(Some("a"), at(1), 9, None),
    Trade(Some("a"), at(1), 3, None),
    Trade(Some("a"), at(3), 8, None),
    Trade(Some("a"), at(3), 2, None))

  private val amid = Seq(Ask(Some("a"), at(2), 0, None), Ask(Some("a"), at(5), 1, None))

  testEach("of trades of one time, the last in the order of the source matches")(
    ("nearest", Seq(3, 2, 2, 2)),
    ("backward", Seq(3, 2, 3, 2))) { case (direction, numbers) =>
    val call = Call(direction, millis = Some(4000))
    // To these asks, the nearest trade may be a later one.
    val later = amid.map(ask => ask.copy(micros = ask.micros + 600000L, id = ask.id + amid.size))
    val asking = amid ++ later
    val expected = numbers.zipWithIndex.map { case (n, id) => (id, Option(n)) }
    Seq[DataFrame => DataFrame](identity, _.distinct(), _.repartition(3), _.orderBy("note"))
      .foreach { arranged =>
        val found =
          onTables(tied, asking)((trades, asks) => query(call)(trades, arranged(asks)))
        assert(answersOf(found) == expected)
      }
    val streamed =
      onStreams(new Random(1), tied, asking, inOrder = true)((trades, asks) =>
        query(call)(trades, asks.repartition(3)))
    assert(answersOf(streamed) == expected)
  }

  testEach("a side of the WITH clause has the order of its source", short = 1)(
    "backward",
    "nearest") { direction =>
    def ofClause(trades: DataFrame, asks: DataFrame): DataFrame = {
      trades.createOrReplaceTempView("some_trades")
      asks.createOrReplaceTempView("some_asks")
      spark.sql(
        "WITH l AS (SELECT * FROM some_asks), r AS (SELECT * FROM some_trades) " +
          "SELECT * FROM asof_join(TABLE(l), TABLE(r), left_on => 'placed', " +
          "right_on => 'ts', left_by => 'sym', right_by => 'k', " +
          s"tolerance => '4 seconds', direction => '$direction')")
    }
    val answers = Seq(0 -> Some(3), 1 -> Some(2))
    assert(answersOf(onTables(tied, amid)(ofClause)) == answers)
    val streamed = onStreams(new Random(3), tied, amid, inOrder = true)(ofClause)
    assert(answersOf(streamed) == answers)
  }

  test("PARTITION BY and ORDER BY of the tables are refused") {
    tradesOf(tied.toDF()).createOrReplaceTempView("some_trades")
    asksOf(amid.toDF()).createOrReplaceTempView("some_asks")
    def fails(left: String, right: String, name: String): Unit = {
      val error = intercept[AnalysisException] {
        spark.sql(
          s"SELECT * FROM asof_join(TABLE(some_asks) $left, TABLE(some_trades) $right, " +
            "left_on => 'placed', right_on => 'ts')")
      }
      assert(error.getCondition == "WINOPS_ARGUMENT.VALUE", error)
      assert(error.getMessage.contains(name) && error.getMessage.contains("left_by"))
    }
    fails("PARTITION BY (sym)", "PARTITION BY (k)", "TABLE(left)")
    fails("", "PARTITION BY (k)", "TABLE(right)")
    fails("", "PARTITION BY (k) ORDER BY (n)", "TABLE(right)")
    fails("WITH SINGLE PARTITION", "", "TABLE(left)")
  }

  /** The asks, of which those of a negative time have none. */
  private def withoutTime(asks: DataFrame): DataFrame =
    asks.selectExpr("sym", "if(micros < 0, NULL, micros) AS micros", "id", "note")

  testEach("a row of the left side without a time matches nothing", short = 1)(Directions: _*) {
    direction =>
      val untimed =
        asks ++ Seq(Ask(Some("a"), at(-1), 8, None), Ask(Some("new"), at(-1), 9, None))
      def joined(call: Call)(trades: DataFrame, asks: DataFrame): DataFrame = {
        val time = asks.schema("placed").metadata
        query(call)(trades, asks.withColumn("placed", $"placed".as("placed", time)))
      }
      Seq(false, true).foreach { isInner =>
        val call = Call(direction, isInner = isInner, millis = Some(3000))
        def onTable(left: Seq[Ask]) = answersOf(
          joined(call)(tradesOf(trades.toDF()), asksOf(withoutTime(left.toDF())))
            .collect()
            .toSeq)
        val known = onTable(asks)
        val expected = if (isInner) known else known ++ Seq(8 -> None, 9 -> None)
        assert(onTable(untimed) == expected)
        val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
        val df = query(call)(
          timedTrades(ofTrades, "0 seconds"),
          asksOf(withoutTime(ofAsks.toDF())).withWatermark("placed", "0 seconds"))
        ofTrades.addData(trades :+ Trade(Some("end"), at(99), 99, None))
        ofAsks.addData(untimed :+ Ask(Some("end"), at(99), 99, None))
        inTempDir { checkpoint =>
          val written = new Written
          val running = start(df, checkpoint, written)
          try {
            running.processAllAvailable()
            val progress = progressOf(running).flatMap(_.stateOperators)
            assert(progress.map(_.customMetrics.get("rowsNullTime").longValue).sum == 2)
          } finally running.stop()
          assert(answersOf(written.rows).filter(_._1 < 99) == expected, call)
        }
      }
  }

  test("a row of the right side without a key moves the watermark") {
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val df =
      query(Call("backward"))(timedTrades(ofTrades, "0 seconds"), timedAsks(ofAsks, "0 seconds"))
    ofTrades.addData(trades :+ Trade(None, at(99), 99, None))
    ofAsks.addData(asks :+ Ask(None, at(99), 99, None))
    inTempDir { checkpoint =>
      val written = new Written
      val running = start(df, checkpoint, written)
      try running.processAllAvailable()
      finally running.stop()
      assert(written.rows.map(_.getAs[Int]("id")).filter(_ < 99).toSet == asks.map(_.id).toSet)
    }
  }

  test("keys are compared in a type that has the values of both sides") {
    def found(left: String, right: String): Seq[(Int, Option[Int])] = answersOf(
      winops
        .asofJoin(
          asksOf(asks.toDF()).selectExpr("placed", "id", s"CAST(id AS $left) AS key"),
          tradesOf(trades.toDF()).selectExpr("ts", "n", s"CAST(n - 1 AS $right) AS key"),
          leftOn = "placed",
          rightOn = "ts",
          by = Seq("key"))
        .collect()
        .toSeq)
    val expected = Seq(0 -> Some(1), 1 -> Some(2), 2 -> None, 3 -> Some(4), 4 -> Some(5))
    Seq("INT" -> "BIGINT", "BIGINT" -> "INT", "DECIMAL(5, 2)" -> "INT", "INT" -> "DECIMAL(5, 2)")
      .foreach { case (left, right) =>
        assert(found(left, right) == expected, s"$left, $right")
      }
    val error = intercept[AnalysisException](found("BIGINT", "DOUBLE"))
    assert(error.getCondition == "WINOPS_ASOF_JOIN", error)
    assert(error.getMessage.contains("the left side has the type BIGINT"), error.getMessage)
    Seq("STRING" -> "INT", "INT" -> "STRING").foreach { case (left, right) =>
      val ofString = intercept[AnalysisException](found(left, right))
      assert(ofString.getCondition == "WINOPS_ASOF_JOIN", ofString)
      assert(ofString.getMessage.contains("as in CAST(key AS STRING)"), ofString.getMessage)
    }
    val wide = winops.asofJoin(
      asksOf(asks.toDF()).selectExpr("placed", "CAST(id AS BIGINT) AS key"),
      tradesOf(trades.toDF()).selectExpr("ts", "n AS other"),
      leftOn = "placed",
      rightOn = "ts",
      leftBy = Seq("key"),
      rightBy = Seq("other"))
    assert(wide.schema.map(_.dataType.sql) == Seq("TIMESTAMP", "BIGINT", "TIMESTAMP", "INT"))
  }

  test("rows that wait for later ones are not joined at the end of the input") {
    val (trades, asks) = (timedTrades(memoryStream[Trade]), timedAsks(memoryStream[Ask]))
    Seq("forward", "nearest").foreach { direction =>
      def joined(atEnd: String) = winops.asofJoin(
        asks,
        trades,
        leftOn = "placed",
        rightOn = "ts",
        direction = direction,
        tolerance = Interval.ofText("1 hour"),
        atEnd = atEnd)
      assert(joined("wait").isStreaming)
      val error = intercept[AnalysisException](joined("flush"))
      assert(error.getCondition == "WINOPS_ARGUMENT.VALUE", error)
      assert(error.getMessage.contains(s"'wait' with the direction $direction"), error)
    }
  }

  test("a left row that may still match a later row is not late") {
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val joined = joinedByKey(
      timedAsks(ofAsks, "0 seconds"),
      timedTrades(ofTrades, "0 seconds"),
      direction = "forward",
      tolerance = Interval.ofText("3 seconds"),
      late = "emit")
    inTempDir { checkpoint =>
      val written = new Written
      val query = start(joined, checkpoint, written)
      def add(trade: Trade, asks: Ask*): Unit = {
        ofTrades.addData(trade)
        ofAsks.addData(asks)
        query.processAllAvailable()
      }
      try {
        // Spark compares late rows with the watermark of the micro-batch before.
        (1 to 2).foreach(_ => add(Trade(None, at(10), 1, None), Ask(None, at(10), -1, None)))
        // The watermark is at 10 seconds, and the rows wait until it has passed 11 and 9.
        add(
          Trade(Some("a"), at(11), 2, None),
          Ask(Some("a"), at(8), 1, None),
          Ask(Some("a"), at(6), 2, None),
          Ask(None, at(11), -2, None))
        add(Trade(None, at(99), 3, None), Ask(None, at(99), -3, None))
      } finally query.stop()
      val reasons = written.rows
        .filter(_.getAs[Int]("id") > 0)
        .map(row => (row.getAs[Int]("id"), intOf(row, "n"), row.getAs[String]("_change_reason")))
      assert(reasons.sortBy(_._1) == Seq((1, Some(2), null), (2, None, "late")))
    }
  }

  test("a join follows another one whose right side starts with a table") {
    val (ofTrades, ofAsks, ofOthers) =
      (memoryStream[Trade], memoryStream[Ask], memoryStream[Trade])
    val table = tradesOf(Seq(Trade(Some("a"), at(1), 1, None)).toDF())
    val quotes = winops.withHistory(timedTrades(ofTrades, "0 seconds"), table)
    val first = joinedByKey(timedAsks(ofAsks, "0 seconds"), quotes)
    val others = timedTrades(ofOthers, "0 seconds").withColumnRenamed("n", "n2")
    val both = joinedByKey(first.drop("k", "ts", "x"), others)
    ofTrades.addData(Trade(Some("end"), at(99), 99, None))
    ofOthers.addData(Trade(Some("a"), at(3), 7, None), Trade(Some("end"), at(99), 99, None))
    ofAsks.addData(Ask(Some("a"), at(4), 1, None), Ask(Some("end"), at(99), -1, None))
    val written = inTempDir(runAll(both, _))
    val found = written.rows.map(row => (row.getAs[Int]("id"), intOf(row, "n"), intOf(row, "n2")))
    assert(found.filter(_._1 > 0) == Seq((1, Some(1), Some(7))))
  }

  test("keys are compared in one collation") {
    def joined(left: String, right: String): DataFrame = winops.asofJoin(
      asksOf(asks.toDF()).selectExpr("placed", "id", s"$left AS key"),
      tradesOf(trades.toDF()).selectExpr("ts", "n", s"$right AS key"),
      leftOn = "placed",
      rightOn = "ts",
      by = Seq("key"))
    val (upper, lower) = ("upper(sym)", "lower(k)")
    val expected = asks.map(ask => ask.id -> matchOf(Call("backward"), trades, ask).map(_.n))
    val found = joined(s"$upper COLLATE UTF8_LCASE", s"$lower COLLATE UTF8_LCASE")
    assert(answersOf(found.collect().toSeq) == expected)
    Seq(
      (s"$upper COLLATE UTF8_LCASE", lower),
      (upper, s"$lower COLLATE UTF8_LCASE"),
      (s"$upper COLLATE UNICODE", s"$lower COLLATE UTF8_LCASE"),
      (s"array($upper)", s"array($lower COLLATE UTF8_LCASE)")).foreach { case (left, right) =>
      val error = intercept[AnalysisException](joined(left, right))
      assert(error.getCondition == "WINOPS_ASOF_JOIN", error)
      assert(error.getMessage.contains("of another collation"), error.getMessage)
      assert(error.getMessage.contains("with COLLATE"), error.getMessage)
    }
    val ofMap = intercept[AnalysisException](joined("map(sym, id)", "map(k, n)"))
    assert(ofMap.getCondition == "WINOPS_ASOF_JOIN", ofMap)
    assert(ofMap.getMessage.contains("key of the left side has the type MAP"), ofMap.getMessage)
    assert(!ofMap.getMessage.contains("PARTITION BY"), ofMap.getMessage)
  }

  private def specOf(df: DataFrame): KeepSpec =
    df.queryExecution.analyzed.collectFirst { case keep: Keep => keep.spec }.get

  test("warnings of costs name the call") {
    val rows = tradesOf(trades.toDF())
    val ofJoin = specOf(query(Call("backward"))(rows, asksOf(asks.toDF())))
    Seq(CheckKeep.costOfGroups(ofJoin), CheckKeep.costOfOneTask(ofJoin)).foreach { warning =>
      assert(warning.startsWith("asof_join") && !warning.contains("KEEP"), warning)
    }
    val ofKeep = specOf(keep(rows, "PARTITION BY (k), 'KEEP 1 ROW', time => 'ts'"))
    assert(CheckKeep.costOfGroups(ofKeep).startsWith("[KEEP 1 ROW]"))
    assert(CheckKeep.costOfOneTask(ofKeep).startsWith("keep without PER"))
  }

  testEach("columns of both sides may have the names of those that a join makes", short = 1)(
    Directions.reverse: _*) { direction =>
    def named(rows: DataFrame, isNamed: Boolean, value: String): DataFrame =
      if (isNamed) rows.selectExpr("*" +: MadeNames.map(name => s"$value AS $name"): _*) else rows
    def joined(ofLeft: Boolean, ofRight: Boolean)(trades: DataFrame, asks: DataFrame): DataFrame =
      winops.asofJoin(
        // The keys are compared in a computed column.
        named(asks.selectExpr("*", "CAST(ascii(sym) AS BIGINT) AS wide"), ofLeft, "id"),
        named(trades.selectExpr("*", "ascii(k) AS narrow"), ofRight, "n * 10"),
        leftOn = "placed",
        rightOn = "ts",
        leftBy = Seq("wide"),
        rightBy = Seq("narrow"),
        direction = direction,
        tolerance = Interval.ofText("3 seconds"))
    def check(rows: Seq[Row], ofLeft: Boolean, ofRight: Boolean): Unit = {
      val call = Call(direction, millis = Some(3000))
      val expected = asks.map(ask => ask.id -> matchOf(call, trades, ask).map(_.n))
      assert(answersOf(rows) == expected)
      val (left, right) = if (ofLeft && ofRight) ("_x", "_y") else ("", "")
      for (row <- rows if row.getAs[Int]("id") >= 0; name <- MadeNames) {
        if (ofLeft) assert(row.getAs[Int](s"$name$left") == row.getAs[Int]("id"))
        if (ofRight) assert(intOf(row, s"$name$right") == intOf(row, "n").map(_ * 10), name)
      }
    }
    Seq((true, false), (false, true), (true, true)).foreach { case (ofLeft, ofRight) =>
      check(onTables(trades, asks)(joined(ofLeft, ofRight)), ofLeft, ofRight)
    }
    check(
      onStreams(new Random(8), trades, asks)(joined(ofLeft = true, ofRight = true)),
      ofLeft = true,
      ofRight = true)
  }

  test("the keys and the times may have the names of columns that a join makes") {
    val keyed = winops.asofJoin(
      asksOf(asks.toDF()).selectExpr("id", "sym AS _lookup", "placed AS _match"),
      tradesOf(trades.toDF()).selectExpr("n", "k AS _lookup", "ts AS _match"),
      on = "_match",
      by = Seq("_lookup"),
      direction = "nearest")
    assert(keyed.columns.toSeq == Seq("id", "_lookup", "_match", "n"))
    val expected = asks.map(ask => ask.id -> matchOf(Call("nearest"), trades, ask).map(_.n))
    assert(answersOf(keyed.collect().toSeq) == expected)
    val timed = winops.asofJoin(
      asksOf(asks.toDF()).selectExpr("id", "sym", "placed AS _as_of_0"),
      tradesOf(trades.toDF()).selectExpr("n", "k AS sym", "ts AS _lookup"),
      leftOn = "_as_of_0",
      rightOn = "_lookup",
      by = Seq("sym"))
    val newest = asks.map(ask => ask.id -> matchOf(Call("backward"), trades, ask).map(_.n))
    assert(answersOf(timed.collect().toSeq) == newest)
  }

  test("idle, max_rows, at_end and late are those of keep") {
    def joined(options: Options)(trades: DataFrame, asks: DataFrame): DataFrame =
      joinedByKey(
        asks,
        trades,
        how = options.how,
        idle = options.idle.map(Interval.ofText).orNull,
        maxRows = options.maxRows,
        atEnd = options.atEnd,
        late = options.late)
    val silent = joined(Options(idle = Some("3 seconds"))) _
    val expected = Seq(0 -> Some(1), 1 -> Some(1), 2 -> None, 3 -> None, 4 -> None)
    assert(answersOf(onTables(trades, asks)(silent)) == expected)
    assert(answersOf(onStreams(new Random(4), trades, asks)(silent)) == expected)

    def streams: (MemoryStream[Trade], MemoryStream[Ask]) = {
      val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
      ofTrades.addData(trades)
      ofAsks.addData(asks)
      (ofTrades, ofAsks)
    }
    def timed(options: Options, of: (MemoryStream[Trade], MemoryStream[Ask])): DataFrame =
      joined(options)(timedTrades(of._1, "0 seconds"), timedAsks(of._2, "0 seconds"))
    inTempDir { checkpoint =>
      val written = new Written
      val query = timed(Options(atEnd = "flush"), streams).writeStream
        .option("checkpointLocation", checkpoint)
        .trigger(Trigger.AvailableNow())
        .foreachBatch((batch: DataFrame, id: Long) => written.add(id, batch.collect().toSeq))
        .start()
      query.awaitTermination()
      assert(
        answersOf(written.rows) ==
          Seq(0 -> Some(1), 1 -> Some(1), 2 -> Some(4), 3 -> None, 4 -> None))
    }
    inTempDir { checkpoint =>
      val query = start(timed(Options(maxRows = 1L), streams), checkpoint, new Written)
      val error = intercept[StreamingQueryException] {
        try query.processAllAvailable()
        finally query.stop()
      }
      assert(conditionsOf(error).contains("WINOPS_MAX_ROWS"))
      assert(error.getMessage.contains("asof_join"), error.getMessage)
    }
    Seq("left", "inner").foreach { how =>
      val (ofTrades, ofAsks) = streams
      val df = timed(Options(late = "emit", how = how), (ofTrades, ofAsks))
      assert(df.columns.last == "_change_reason")
      inTempDir { checkpoint =>
        val written = new Written
        val running = start(df, checkpoint, written)
        try {
          ofTrades.addData(Trade(Some("end"), at(99), 99, None))
          ofAsks.addData(Ask(Some("end"), at(99), 99, None))
          running.processAllAvailable()
          ofAsks.addData(Ask(Some("a"), at(5), 7, None))
          running.processAllAvailable()
        } finally running.stop()
        val reasons = written.rows.map(row => row.getAs[Int]("id") -> row.getAs[String](8)).toMap
        assert(reasons.filter(_._2 != null) == Map(7 -> "late"))
        assert(reasons.keySet == (if (how == "left") Set(0, 1, 2, 3, 4, 7) else Set(0, 1, 2, 7)))
      }
    }
  }

  test("late rows and rows without a time have a reason over tables, too") {
    val left = asksOf(asks.toDF())
      .withColumn("placed", expr("if(id = 1, NULL, placed)"))
    Directions.foreach { direction =>
      val found = winops.asofJoin(
        left,
        tradesOf(trades.toDF()),
        leftOn = "placed",
        rightOn = "ts",
        leftBy = Seq("sym"),
        rightBy = Seq("k"),
        direction = direction,
        late = "emit")
      assert(found.columns.count(_ == "_change_reason") == 1)
      val reasons = found.select("id", "_change_reason").collect().toSeq
      assert(reasons.filterNot(_.isNullAt(1)) == Seq(Row(1, "time missing")), direction)
      assert(reasons.size == asks.size)
    }
  }

  testEach("an inner join emits rows without a time if late ones are emitted", short = 1)(
    "forward",
    "nearest",
    "backward") { direction =>
    val untimed = asks :+ Ask(Some("a"), at(-1), 8, None)
    def joined(trades: DataFrame, asks: DataFrame): DataFrame = joinedByKey(
      asks,
      trades,
      direction = direction,
      tolerance = Interval.ofText("3 seconds"),
      how = "inner",
      late = "emit")
    def shown(rows: Seq[Row]): Seq[(Int, Option[Int], String)] = rows
      .map(row => (row.getAs[Int]("id"), intOf(row, "n"), row.getAs[String]("_change_reason")))
      .sortBy(_._1)
    val call = Call(direction, millis = Some(3000))
    val matched = asks.flatMap { ask =>
      matchOf(call, trades, ask).map(found => (ask.id, Option(found.n), null: String))
    }
    val expected: Seq[(Int, Option[Int], String)] = matched :+ ((8, None, "time missing"))
    val onTable = joined(tradesOf(trades.toDF()), asksOf(withoutTime(untimed.toDF())))
    assert(shown(onTable.collect().toSeq) == expected)
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val df = joined(
      timedTrades(ofTrades, "0 seconds"),
      asksOf(withoutTime(ofAsks.toDF())).withWatermark("placed", "0 seconds"))
    ofTrades.addData(trades :+ Trade(Some("end"), at(99), 99, None))
    ofAsks.addData(untimed :+ Ask(Some("end"), at(99), 99, None))
    val written = inTempDir(runAll(df, _))
    assert(shown(written.rows).filter(_._1 < 99) == expected)
  }

  test("the state has the rows that a later row may match") {
    val many = (1 to 10).map(second => Trade(Some("a"), at(second.toLong), second, None)) :+
      Trade(Some("b"), at(5), 50, None)
    def held(call: Call): Long = {
      val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
      val df =
        query(call)(timedTrades(ofTrades, "0 seconds"), timedAsks(ofAsks, "0 seconds"))
      ofTrades.addData(many)
      ofAsks.addData(Ask(Some("a"), at(10), 0, None))
      inTempDir { checkpoint =>
        val running = start(df, checkpoint, new Written)
        try {
          running.processAllAvailable()
          val state = progressOf(running).last.stateOperators.head.customMetrics
          // The watermark is at 10 seconds, so a trade and an ask wait.
          assert(state.get("rowsWaiting").longValue == 2)
          state.get("rowsHeld").longValue - 2
        } finally running.stop()
      }
    }
    // The newest trade of each key.
    assert(held(Call("backward")) == 2)
    // Trades of seconds 7 to 9, and of seconds 6 to 9.
    assert(held(Call("forward", millis = Some(3000))) == 3)
    assert(held(Call("nearest", millis = Some(2000))) == 4)
  }

  test("as many trades may match as the limit of rows allows, not as an array has by default") {
    Seq("forward", "nearest").foreach { direction =>
      val spec = specOf(
        query(Call(direction, millis = Some(1000)))(
          timedTrades(memoryStream[Trade]),
          timedAsks(memoryStream[Ask])))
      assert(spec.maxContent == spec.maxRows, direction)
    }
  }

  test("more trades than an array has by default match", Longer) {
    val many = (0 to 100000).map(n => Trade(Some("a"), at(2) + n, n, None))
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val df = query(Call("forward", millis = Some(1000)))(
      timedTrades(ofTrades, "0 seconds"),
      timedAsks(ofAsks, "0 seconds"))
    ofTrades.addData(many :+ Trade(Some("end"), at(99), 99, None))
    ofAsks.addData(Ask(Some("a"), at(2), 0, None), Ask(Some("end"), at(99), 99, None))
    inTempDir { checkpoint =>
      assert(answersOf(runAll(df, checkpoint).rows).filter(_._1 == 0) == Seq(0 -> Some(0)))
    }
  }

  test("a disabled session leaves the join to Spark") {
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    def joined = ofSpark(timedTrades(ofTrades), timedAsks(ofAsks))()
    def isOfSpark(df: DataFrame): Boolean =
      df.queryExecution.analyzed.exists(_.isInstanceOf[AsOfJoin])
    withSQLConf(AsOfSettings.Enabled -> "false") {
      assert(isOfSpark(joined))
    }
    withSQLConf(OverSettings.Enabled -> "false") {
      assert(!isOfSpark(joined))
    }
  }
}

private object AsOfJoinSuite {
  private val Runs = 8

  val Directions: Seq[String] = Seq("backward", "forward", "nearest")

  /** The names of columns that a join adds to those of its sides. */
  val MadeNames: Seq[String] =
    Seq("_match", "_lookup", "_as_of_0", "_as_of_1", "_near", "_before", "_later", "_behind")

  /** A join of Spark over trades and asks, with its rows. */
  final case class OwnJoin(
      name: String,
      query: (DataFrame, DataFrame) => DataFrame,
      expected: Seq[(Int, Option[Int])]) {
    override def toString: String = name
  }

  final case class Call(
      direction: String,
      isExact: Boolean = true,
      isInner: Boolean = false,
      millis: Option[Int] = None)

  /** The arguments of a join that are those of `keep`, and `how`. */
  final case class Options(
      idle: Option[String] = None,
      maxRows: Long = 10000000L,
      atEnd: String = "wait",
      late: String = "drop",
      how: String = "left")

  /** Microseconds of a time in seconds. */
  def at(seconds: Long): Long = seconds * 1000000L

  def timeOf(trade: Trade): Timestamp =
    Timestamp.from(Instant.EPOCH.plus(trade.micros, ChronoUnit.MICROS))

  def intOf(row: Row, name: String): Option[Int] =
    Option.when(!row.isNullAt(row.fieldIndex(name)))(row.getAs[Int](name))

  /** The trade that a call joins with an ask. */
  def matchOf(call: Call, trades: Seq[Trade], ask: Ask): Option[Trade] = {
    def distance(trade: Trade): Long = Math.abs(trade.micros - ask.micros)
    val known = trades.filter { trade =>
      trade.k.isDefined && trade.k == ask.sym &&
      (call.isExact || trade.micros != ask.micros) &&
      call.millis.forall(most => distance(trade) <= most * 1000L)
    }
    // Of equal times, the last row matches.
    val before = known.filter(_.micros <= ask.micros).sortBy(_.micros).lastOption
    val behind = known.filter(_.micros >= ask.micros).sortBy(-_.micros).lastOption
    call.direction match {
      case "backward" => before
      case "forward" => behind
      case _ => (before ++ behind).minByOption(distance)
    }
  }
}
