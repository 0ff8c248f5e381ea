package winops.spark.over

import scala.util.Random

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions._

import winops.spark.plan.Over
import winops.spark.testing.OneTask
import winops.testing.{Longer, TableTests}

/** Window functions above an aggregation by windows of event time. */
class EventWindowsSuite extends OverStreamTest with OneTask with TableTests {
  import testImplicits._

  private val rows = {
    val random = new Random(3)
    (0 until 120).map { i =>
      val at = 100000000L + i * 700000L + random.nextInt(500) * 1000L
      Quote("abc".charAt(random.nextInt(3)).toString, at, i, Some(random.nextInt(9)), None, None)
    }
  }
  private val runs = Seq(Seq(rows.take(40), rows.slice(40, 55)), Seq(rows.drop(55)))

  private def sums(duration: String = "4 seconds", slide: String = "4 seconds"): DataFrame =
    spark
      .table(View)
      .groupBy(window($"ts", duration, slide), $"k")
      .agg(sum("n").as("s"), count("*").as("c"))

  private val frames = Seq("", "ROWS 2 PRECEDING", "RANGE INTERVAL 9 SECONDS PRECEDING")

  private def ordered(by: String, frames: Seq[String] = frames)(df: DataFrame): DataFrame = {
    val functions = frames.map { frame =>
      val function = if (frame.isEmpty) "lag(s)" else "sum(s)"
      s"$function OVER (PARTITION BY k ORDER BY $by $frame)"
    }
    df.selectExpr("window.end AS t" +: "k" +: "s" +: functions: _*)
  }

  private def operators(df: DataFrame): Seq[Over] =
    df.queryExecution.analyzed.collect { case over: Over => over }

  /** Compares the windows that have ended with those of a table. */
  private def same(hint: String)(query: => DataFrame): Unit = {
    val streamed = onStream(runs)(query)
    val last = streamed.map(_.getTimestamp(0).getTime).max
    val expected = onTable(rows)(query).filter(_.getTimestamp(0).getTime <= last)
    assert(streamed.size > 20, hint)
    assertSameRows(streamed, expected, hint)
  }

  Seq(
    "window.start" -> "tumbling",
    "window.end" -> "sliding",
    "window" -> "sliding",
    "window.start" -> "sliding",
    "window.end" -> "tumbling",
    "window" -> "tumbling").zipWithIndex.foreach { case ((by, kind), i) =>
    test(s"ORDER BY $by of $kind windows", Longer.unless(i < 3): _*) {
      // Spark has no intervals before a struct.
      val some = if (by == "window") frames.take(2) else frames
      def windows = if (kind == "tumbling") sums() else sums("6 seconds", "2 seconds")
      same(s"$by, $kind")(ordered(by, some)(windows))
    }
  }

  testEach("ORDER BY a time or columns that are selected before", 4)(
    "window_time" -> { () =>
      val timed = sums().select(window_time($"window").as("at"), $"window", $"k", $"s", $"c")
      ordered("at")(timed)
    },
    "another PARTITION BY, over a start of another name" -> { () =>
      spark.sql(s"""SELECT end AS t, k, lag(s) OVER (PARTITION BY k ORDER BY start) AS a,
        sum(s) OVER (PARTITION BY k <> 'a' ORDER BY start) AS b FROM (
        SELECT window.start AS start, window.end AS end, k, sum(n) AS s
        FROM $View GROUP BY window(ts, '4 seconds'), k)""")
    },
    "in one SELECT" -> { () =>
      spark.sql(s"""SELECT window.end AS t, k, sum(n) AS s,
        sum(sum(n)) OVER (PARTITION BY k ORDER BY window.start ROWS 2 PRECEDING) AS m
        FROM $View GROUP BY window(ts, '4 seconds'), k""")
    },
    "ends of sessions" -> { () =>
      spark.sql(s"""SELECT session_window.end AS t, k, s,
        lag(s) OVER (PARTITION BY k ORDER BY session_window.end) AS m FROM (
        SELECT session_window(ts, '2 seconds') AS session_window, k, sum(n) AS s
        FROM $View GROUP BY session_window(ts, '2 seconds'), k)""")
    },
    "a column of the start" -> { () =>
      val w = Window.partitionBy("k").orderBy("start")
      sums()
        .select($"window.end".as("t"), $"window.start".as("start"), $"k", $"s")
        .where("s > 0")
        .withColumn("a", lag("s", 1).over(w))
        .withColumn("b", sum("s").over(w.rowsBetween(-2, 0)))
    },
    "functions over functions" -> { () =>
      val w = Window.partitionBy("k").orderBy("window.start")
      sums()
        .withColumn("a", lag("s", 1).over(w))
        .withColumn("b", sum("a").over(w.rowsBetween(-1, 0)))
        .select("window.end", "k", "s", "a", "b")
    }) { case (hint, query) => same(hint)(query()) }

  test("functions of one order are one operator") {
    val stream = memoryStream[Quote]
    withTimeOf(stream.toDF()).withWatermark("ts", "0 seconds").createOrReplaceTempView(View)
    val w = Window.partitionBy("k").orderBy("window.start")
    val both = sums().withColumn("a", lag("s", 1).over(w)).withColumn("b", lag("c", 1).over(w))
    assert(operators(both).map(_.results.size) == Seq(2))
    assert(both.columns.toSeq == Seq("window", "k", "s", "c", "a", "b"))
    val other = Window.partitionBy("c").orderBy("window.start", "k")
    assert(operators(both.withColumn("c", lag("c", 1).over(other))).size == 2)
  }

  test("keys that are unique by grouping need no further sort key, others do") {
    val stream = memoryStream[Quote]
    withTimeOf(stream.toDF()).withWatermark("ts", "0 seconds").createOrReplaceTempView(View)
    val timed = sums().select(window_time($"window").as("at"), $"k", $"s")
    def over(partition: String, order: String) =
      timed.selectExpr(s"lag(s) OVER (PARTITION BY $partition ORDER BY $order) AS a")
    assert(operators(over("k", "at")).size == 1)
    assert(operators(over("1", "at, k")).size == 1)
    assert(refusal(over("1", "at")).getMessage.contains("no order above the operator"))
    assert(refusal(over("upper(k)", "at")).getMessage.contains("no order above the operator"))
    val distinct = spark.table(View).dropDuplicates("k", "ts")
    assert(
      operators(distinct.selectExpr("lag(n) OVER (PARTITION BY k ORDER BY ts) AS a")).size == 1)
  }

  test("windows whose start is no order are refused with window_time") {
    val stream = memoryStream[Quote]
    withTimeOf(stream.toDF()).withWatermark("ts", "0 seconds").createOrReplaceTempView(View)
    val sessions =
      spark.table(View).groupBy(session_window($"ts", "2 seconds"), $"k").agg(sum("n").as("s"))
    Seq(
      sessions.selectExpr("lag(s) OVER (PARTITION BY k ORDER BY session_window.start) AS a"),
      sessions
        .selectExpr("session_window.start AS b", "k", "s")
        .selectExpr("lag(s) OVER (PARTITION BY k ORDER BY b) AS a"),
      sums().selectExpr(
        "sum(s) OVER (PARTITION BY k ORDER BY window.start RANGE INTERVAL 2 DAYS PRECEDING) AS a"))
      .foreach { df =>
        val error = refusal(df)
        assert(error.getCondition == "WINOPS_OVER")
        assert(error.getMessage.toLowerCase.contains("select window_time"))
        assert(!error.getMessage.contains("Call withWatermark"))
        assert("\\b_w\\d".r.findFirstIn(error.getMessage).isEmpty, error.getMessage)
      }
  }

  private def refusal(df: DataFrame): AnalysisException = {
    var error: AnalysisException = null
    withTempDir { checkpoint =>
      error = intercept[AnalysisException] {
        start(df, checkpoint.getCanonicalPath, new Written).stop()
      }
    }
    error
  }
}
