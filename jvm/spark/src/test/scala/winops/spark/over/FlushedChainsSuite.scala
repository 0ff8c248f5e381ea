package winops.spark.over

import scala.util.Random

import org.apache.spark.SparkConf
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.StreamingQuery

import winops.spark.testing.OneTask
import winops.testing.{Longer, TableTests}

/** Chains of stateful operators over a finite input that is read in several runs, each of which
  * flushes its waiting rows. The first row of a run is one millisecond after the last of the run
  * before, so a watermark that a flush moves too far makes it late.
  */
class FlushedChainsSuite extends OverStreamTest with OneTask with TableTests {
  import FlushedChainsSuite._
  import testImplicits._

  override protected def sparkConf: SparkConf =
    super.sparkConf.set(OverSettings.AtEnd, "flush")

  private val operators: Map[String, DataFrame => DataFrame] = Map(
    "lag" -> over("lag(n) OVER (PARTITION BY k ORDER BY ts, seq)"),
    "sum" -> over("sum(n) OVER (PARTITION BY seq % 3 ORDER BY ts, seq ROWS 2 PRECEDING)"),
    "range" -> over("count(n) OVER (ORDER BY ts RANGE INTERVAL 2 SECONDS PRECEDING)"),
    "inserts" -> keepOf("KEEP 2 ROWS", "insert"),
    "deletes" -> keepOf("KEEP 2 SECONDS", "delete"),
    "dropDuplicates" -> (_.dropDuplicates("ts", "seq")),
    "withinWatermark" -> { df =>
      // Spark has the operator for streams only; no row has a duplicate.
      if (df.isStreaming) df.dropDuplicatesWithinWatermark("ts", "seq") else df
    },
    "join" -> { df =>
      df.as("a")
        .join(df.as("b"), expr("a.ts = b.ts AND a.seq = b.seq"))
        .selectExpr("a.k", "a.ts", "a.seq", "b.n")
    },
    "union" -> { df =>
      val some = over("max(n) OVER (PARTITION BY k ORDER BY ts, seq)")(df.where("k = 'a'"))
      some.union(df.where("k <> 'a'"))
    })

  private def over(function: String)(df: DataFrame): DataFrame =
    df.selectExpr("k", "ts", "seq", s"CAST($function AS INT) AS n")

  private def keepOf(policy: String, kind: String)(df: DataFrame): DataFrame =
    keep(df, s"PARTITION BY (k) ORDER BY (seq), '$policy', time => 'ts', at_end => 'flush'")
      .where($"_change_type" === kind)
      .select($"k", $"_change_time".as("ts"), $"seq", $"n")

  private def chain(names: Seq[String])(df: DataFrame): DataFrame =
    names.foldLeft(df)((rows, name) => operators(name)(rows))

  private val sparks = Seq("dropDuplicates", "withinWatermark", "join")
  private val own = Seq("lag", "sum", "range", "inserts", "deletes")

  /** Chains that together have each operator. */
  private val ofEach = Seq(
    Seq("lag", "union", "sum", "range"),
    Seq("join", "lag"),
    Seq("deletes", "dropDuplicates"),
    Seq("inserts", "withinWatermark"))

  private val chains: Seq[Seq[String]] = {
    val random = new Random(11)
    // A join of a join with itself would have four times as many operators.
    val others = random.shuffle(operators.keys.toSeq.sorted)
    val pairs = others.map(name => Seq(own(random.nextInt(own.size)), name))
    val longer = (1 to 5).map { i =>
      val middle = Seq.fill(2 + i % 2)(others(random.nextInt(others.size)))
      own(random.nextInt(own.size)) +: middle.filterNot(_ == "join") :+ own(i % own.size)
    }
    val onSource = sparks.flatMap(name => Seq(Seq(name, "lag"), Seq(name, "inserts", "sum")))
    (ofEach ++ pairs ++ longer ++ onSource :+ Seq("lag", "lag", "join", "sum")).distinct
  }

  testEach("each row of each run", ofEach.size)(chains: _*) { names =>
    val expected = onTable(rows.flatten.flatten)(query(chain(names)))
    val (streamed, late) = onRuns(rows)(query(chain(names)))
    assertSameRows(streamed, expected, names.mkString(", "))
    assert(late == 0)
  }

  for (above <- Seq(Seq("lag"), Seq("inserts", "sum"));
    below <- Seq(Seq("sum"), Seq("dropDuplicates", "lag"))) {
    val hint = (below ++ above).mkString(", ")
    val tags = Longer.unless(below.size > 1 && above.size > 1)
    test(s"an aggregation of single times in between: $hint", tags: _*) {
      def single(df: DataFrame) = df.groupBy("k", "ts", "seq").agg(max("n").as("n"))
      def result = query(df => chain(above)(single(chain(below)(df))))
      val expected = onTable(rows.flatten.flatten)(result)
      val (streamed, late) = onRuns(rows)(result)
      // Above another operator, Spark emits the last time when a later one has come.
      val last = rows.flatten.flatten.map(_.at).max / 1000
      def early(some: Seq[Row]) = some.filter(_.getAs[java.sql.Timestamp]("ts").getTime < last)
      assertSameRows(early(streamed), early(expected), hint)
      assert(late == 0)
    }
  }

  testEach("rows of the last time of a flush are late in the next start, as earlier ones", 1)(
    Seq("dropDuplicates", "inserts"),
    Seq("lag"),
    Seq("lag", "sum")) { names =>
    val again = rows.flatten.flatten.filter(row => row.at == rows.head.flatten.map(_.at).max)
    val runs = Seq(rows.head, Seq(again.map(_.copy(seq = 1000))) ++ rows(1), rows(2))
    assert(again.nonEmpty)
    val expected = onTable(rows.flatten.flatten)(query(chain(names)))
    val (streamed, late) = onRuns(runs)(query(chain(names)))
    assertSameRows(streamed, expected, names.mkString(", "))
    assert(late == again.size)
  }

  testEach("a windowed aggregation above emits the windows that end before the last row", 1)(
    Seq("sum", "dropDuplicates", "inserts"),
    Seq("lag"),
    Seq("lag", "sum")) { names =>
    def counts = query { df =>
      chain(names)(df)
        .groupBy(window($"ts", "4 milliseconds"), $"k")
        .agg(count("*").as("c"), sum("n").as("s"))
        .select(unix_millis($"window.end").as("end"), $"k", $"c", $"s")
    }
    val last = rows.flatten.flatten.map(_.at).max / 1000
    val expected = onTable(rows.flatten.flatten)(counts)
    val (streamed, late) = onRuns(rows)(counts)
    val ended = expected.filter(_.getAs[Long]("end") < last)
    assert(ended.nonEmpty)
    assertSameRows(streamed, ended, names.mkString(", "))
    assert(late == 0)
  }

  test("rows within the millisecond up to which an aggregation in a union is complete") {
    def result = query { df =>
      val rows = df.select("k", "ts", "seq", "n")
      val single = rows.where("k = 'z'").groupBy("k", "ts", "seq").agg(max("n").as("n"))
      over("lag(seq) OVER (PARTITION BY k ORDER BY ts, seq)")(
        rows.where("k <> 'z'").union(single))
    }
    def quote(k: String, at: Long, seq: Int) =
      Quote(k, 1000000000L + at, seq, Some(seq), None, None)
    // The flush reaches the watermark of these rows first, then that of the last row.
    val early = Seq(quote("a", 500, 1), quote("a", 0, 2), quote("z", 500, 3), quote("z", 0, 4))
    val runs = Seq(early.map(Seq(_)), Seq(Seq(quote("b", 1000000, 5))))
    val expected = onTable(runs.flatten.flatten)(result)
    withSQLConf(OverSettings.AtEnd -> "wait") {
      assertSameRows(onStream(runs, delay = "1 second")(result), expected, "union")
    }
  }

  test("window functions above a windowed aggregation of window functions", Longer) {
    def sums = query { df =>
      chain(Seq("lag", "sum"))(df)
        .groupBy(window($"ts", "4 milliseconds"), $"k")
        .agg(sum("n").as("s"))
        .select(window_time($"window").as("t"), $"k", $"s")
        .selectExpr("t", "k", "sum(s) OVER (PARTITION BY k ORDER BY t, s ROWS 2 PRECEDING)")
    }
    val last = rows.flatten.flatten.map(_.at).max
    val expected = onTable(rows.flatten.flatten)(sums)
    val (streamed, late) = onRuns(rows)(sums)
    val ended = expected.filter(_.getTimestamp(0).getTime < last / 1000)
    assertSameRows(streamed, ended, "aggregation in between")
    assert(late == 0)
  }

  private def query(of: DataFrame => DataFrame): DataFrame = of(spark.table(View).drop("x", "s"))

  /** The rows of a query over a stream that is started for each of the runs, and the number of
    * rows that were late.
    */
  private def onRuns(runs: Seq[Seq[Seq[Quote]]])(query: => DataFrame): (Seq[Row], Long) = {
    val stream = memoryStream[Quote]
    withTimeOf(stream.toDF()).withWatermark("ts", "1 second").createOrReplaceTempView(View)
    val written = new Written
    var late = 0L
    withTempDir { checkpoint =>
      runs.foreach { batches =>
        batches.foreach(stream.addData(_: Seq[Quote]))
        late += lateOf(flush(query, checkpoint.getCanonicalPath, written))
      }
    }
    (written.rows, late)
  }

  private def lateOf(query: StreamingQuery): Long =
    progressOf(query).flatMap(_.stateOperators).map(_.numRowsDroppedByWatermark).sum
}

private object FlushedChainsSuite {

  /** Three runs of two micro-batches each. Rows of a run begin one millisecond after the last row
    * of the run before.
    */
  val rows: Seq[Seq[Seq[Quote]]] = {
    val random = new Random(5)
    val start = 1000000000L
    (0 until 3).map { run =>
      val first = start + run * 13000L
      (0 until 2).map { batch =>
        (0 until 9).map { i =>
          val seq = run * 18 + batch * 9 + i
          // The first and the last row are on the limits of the run.
          val at = if (batch == 0 && i == 0) 0 else if (i == 8) 12 else random.nextInt(13)
          val n = Some(random.nextInt(20)).filter(_ > 2)
          Quote("abc".charAt(random.nextInt(3)).toString, first + at * 1000L, seq, n, None, None)
        }
      }
    }
  }
}
