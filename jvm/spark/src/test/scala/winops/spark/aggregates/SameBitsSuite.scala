package winops.spark.aggregates

import java.io.File

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.{lit, struct, to_json}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.StreamingQuery

import winops.spark.testing.{CompiledCode, KeepStreamTest, RandomProperties, Reading, Readings, SameBits}
import winops.testing.Longer

/** Two numbers of a group `k`; `n` is the position in the group. */
final case class Pair(k: Long, n: Long, x: Option[Double], y: Option[Double])

/** Aggregates of doubles are equal to the bit on a table and on a stream, for any cut into
  * batches, restarts, partitions and state store. Runs twice, or as often as `-Dbits=` specifies.
  */
class SameBitsSuite extends KeepStreamTest with CompiledCode with RandomProperties {
  import SameBitsSuite._
  import testImplicits._

  (1 to Runs).foreach { run =>
    val tags = Longer.unless(run == 1)
    property(s"same bits: table, stream and Spark's own windows, run $run", tags: _*) { random =>
      val pairs =
        randomPairs(random, Seq(3050 + random.nextInt(500), 301 + random.nextInt(300), 50, 2))
      val onTable = values(aggregates(tableOf(random, pairs)).collect().toSeq)
      assert(onTable.size == pairs.size * Sizes.size)
      check("a stream", onTable, values(stream(random, pairs, aggregates, isMoved = true)))
      val folded = onTable.filter { case ((size, _, _), _) => isFolded(size) }
      check("Spark's windows", folded, inWindows(tableOf(random, pairs)))
    }
  }

  (1 to Runs).foreach { run =>
    val tags = Longer.unless(run == 1)
    property(s"same bits: other outputs and windows, table and stream, run $run", tags: _*) {
      random =>
        val code = if (run % 2 == 1) CompiledCode.Interpreted else CompiledCode.Compiled
        withSQLConf(code: _*) {
          val pairs = randomPairs(random, Seq(300 + random.nextInt(300), 40, 2))
          val onTable = inOrder(others(tableOf(random, pairs)).collect().toSeq)
          val onStream = inOrder(stream(random, pairs, others, isMoved = false))
          assert(onTable.map(_.getString(0)).distinct == OtherCalls.keys.toSeq.sorted)
          onTable.zip(onStream).find { case (a, b) => a != b }.foreach { case (table, stream) =>
            fail(s"a stream has $stream, and a table $table")
          }
          assert(onStream.size == onTable.size)
        }
    }
  }

  test(
    "same bits: a group that was forgotten and comes back, in the same batch or in a later one") {
    val random = new Random(1)
    def rows(k: Long, from: Long, count: Int): Seq[Reading] = (0 until count).map { i =>
      val x = Some(random.nextGaussian() * 1e6)
      Reading(k, (from * 1000 + i) * 1000, from + i, None, None, x, None, None, None)
    }
    // The last row expires the group again; the second batch only advances time.
    val batches = Seq(rows(1, 100, 50), rows(2, 500, 1), rows(1, 900, 70), rows(2, 2000, 1))
    def sums(df: DataFrame): DataFrame = keep(
      Readings.columns(df).withWatermark("ts", Readings.Disorder),
      "PARTITION BY (k) ORDER BY (n), 'KEEP 60 ROWS', time => 'ts', idle => '5 seconds', " +
        "output => 'agg', " +
        "aggregates => TABLE(SELECT sum(x) AS s, stddev(x) AS d FROM input_of_keep)")
      .select($"k", $"_change_time", $"_change_seq", $"s", $"d")
    val source = memoryStream[Reading]
    val written = new Written
    withTempDir { dir =>
      runOver(source, batches)(start(sums(source.toDF()), dir.getPath, written))
    }
    def ofGroup(rows: Seq[Row]): Seq[Row] = rows
      .filter(_.getLong(0) == 1)
      .sortBy(row => (row.getTimestamp(1).getTime, row.getLong(2)))
    val onStream = ofGroup(written.rows)
    val onTable = ofGroup(sums(batches.flatten.toDF()).collect().toSeq)
    assert(onTable.count(_.isNullAt(3)) == 2, "the group is forgotten twice")
    assert(SameBits.same(onStream, onTable))
  }

  /** Compares values by window, group and step. */
  private def check(
      of: String,
      expected: Map[(Int, Long, Long), Row],
      got: Map[(Int, Long, Long), Row]): Unit = {
    assert(got.keySet == expected.keySet, s"$of has other steps than a table")
    got.foreach { case (key, row) =>
      if (!SameBits.same(row, expected(key))) {
        fail(s"$of has $row for $key, and a table ${expected(key)}")
      }
    }
  }

  /** All aggregates of all windows in one query. */
  private def aggregates(df: DataFrame): DataFrame = Sizes
    .map { size =>
      val named = Functions.zipWithIndex.map { case (function, i) => s"$function AS value$i" }
      keep(
        df,
        s"PARTITION BY (k) ORDER BY (n), 'KEEP $size ROWS', output => 'agg', " +
          s"aggregates => TABLE(SELECT ${named.mkString(", ")} FROM input_of_keep)")
        .select(Seq(lit(size), $"k", $"_change_seq") ++ columns: _*)
    }
    .reduce(_.union(_))

  /** The output rows of all other calls in one query: the call's name, and the row as a text,
    * which is another one for each value of a double.
    */
  private def others(df: DataFrame): DataFrame = OtherCalls
    .map { case (name, call) =>
      val output = keep(df, call)
      // The time of a stream is that of its micro-batches.
      val compared = output.columns.filter(_ != "_change_time").map(output(_))
      output.select(lit(name), to_json(struct(compared.toIndexedSeq: _*)))
    }
    .reduce(_.union(_))

  private def inOrder(rows: Seq[Row]): Seq[Row] =
    rows.sortBy(row => (row.getString(0), row.getString(1)))

  private def columns = Functions.indices.map(i => $"value$i")

  private def values(rows: Seq[Row]): Map[(Int, Long, Long), Row] = {
    val steps = rows.groupBy(row => (row.getInt(0), row.getLong(1))).toSeq
    steps.flatMap { case ((size, k), ofGroup) =>
      ofGroup.sortBy(_.getLong(2)).zipWithIndex.map { case (row, step) =>
        (size, k, step.toLong) -> Row.fromSeq(row.toSeq.drop(3))
      }
    }.toMap
  }

  /** The aggregates of windows that are folded row by row, computed by Spark's own windows. */
  private def inWindows(df: DataFrame): Map[(Int, Long, Long), Row] = {
    df.createOrReplaceTempView("pairs")
    val rows = Sizes.filter(isFolded).flatMap { size =>
      val over =
        s"OVER (PARTITION BY k ORDER BY n ROWS BETWEEN ${size - 1} PRECEDING AND CURRENT ROW)"
      val named = Functions.map(function => s"$function $over")
      spark.sql(s"SELECT $size, k, n, ${named.mkString(", ")} FROM pairs").collect().toSeq
    }
    values(rows)
  }

  private def isFolded(size: Int): Boolean = size <= winops.aggregation.WindowSummary.FoldedRows

  private def tableOf(random: Random, pairs: Seq[Pair]): DataFrame = spark.sparkContext
    .parallelize(random.shuffle(pairs), 1 + random.nextInt(4))
    .toDF()

  /** The output of a stream that receives its rows in a few batches, with restarts between them;
    * one restart may move the state to another number of partitions.
    */
  private def stream(
      random: Random,
      pairs: Seq[Pair],
      output: DataFrame => DataFrame,
      isMoved: Boolean): Seq[Row] = {
    val stores = Seq(
      Seq(KeepStreamTest.hdfs),
      Seq(KeepStreamTest.rocksDb),
      Seq(KeepStreamTest.rocksDb, KeepStreamTest.changelog))
    val partitions = SQLConf.SHUFFLE_PARTITIONS.key -> (1 + random.nextInt(3)).toString
    val written = new Written
    withSQLConf(stores(random.nextInt(stores.size)) :+ partitions: _*) {
      withTempDir { dir =>
        val source = memoryStream[Pair]
        var checkpoint = new File(dir, "0")
        val runs = parts(random, parts(random, pairs, 5), 3)
        runs.zipWithIndex.foreach { case (batches, run) =>
          if (isMoved && run > 0 && random.nextInt(4) == 0) {
            val moved = new File(dir, run.toString)
            val count = 1 + random.nextInt(4)
            spark
              .sql(s"SELECT * FROM winops_repartition('$checkpoint', '$moved', $count)")
              .collect()
            checkpoint = moved
          }
          runOver(source, batches)(start(output(source.toDF()), checkpoint.getPath, written))
        }
      }
    }
    written.rows
  }

  /** Runs a query until it has processed each of the batches. */
  private def runOver[A](source: MemoryStream[A], batches: Seq[Seq[A]])(
      started: => StreamingQuery): Unit = {
    val query = started
    try
      batches.foreach { batch =>
        source.addData(batch)
        query.processAllAvailable()
      }
    finally query.stop()
  }

  private def parts[A](random: Random, all: Seq[A], most: Int): Seq[Seq[A]] = {
    val cuts = Seq.fill(random.nextInt(most))(random.nextInt(all.size)).filter(_ > 0)
    val bounds = 0 +: cuts.distinct.sorted :+ all.size
    bounds.zip(bounds.tail).map { case (from, until) => all.slice(from, until) }
  }
}

private object SameBitsSuite {
  val Runs: Int = sys.props.get("bits").fold(2)(_.toInt)

  val Sizes: Seq[Int] = Seq(3, 30, 300, 3000)

  val Functions: Seq[String] = Seq(
    "sum(x)",
    "avg(x)",
    "stddev(x)",
    "var_pop(y)",
    "skewness(x)",
    "kurtosis(y)",
    "corr(x, y)",
    "covar_samp(x, y)",
    "regr_slope(y, x)",
    "regr_intercept(x, y)")

  private val Sums = "sum(x) AS s, avg(y) AS a, stddev(x) AS d, corr(x, y) AS c"

  /** Calls whose values are computed from other trees than those of `agg` over one CCL window.
    * The windows and the parts of a window are larger than those that are folded row by row.
    */
  val OtherCalls: Map[String, String] = {
    val perGroup = "PARTITION BY (k) ORDER BY (n)"
    val single = "WITH SINGLE PARTITION ORDER BY (n)"
    def sums(rest: String = "") =
      s"aggregates => TABLE(SELECT $Sums FROM input_of_keep)$rest, output => 'agg'"
    def ofParts(query: String) = s"output => 'agg', aggregates => TABLE($query)"
    Map(
      "parts" -> (s"$single, 'KEEP 200 ROWS', " +
        ofParts(s"SELECT k, $Sums FROM input_of_keep GROUP BY k")),
      "parts of a sorted window" -> (s"$single, esper => '#sort(200, x, n)', " +
        ofParts(s"SELECT k, $Sums FROM input_of_keep GROUP BY k")),
      "derived values of all groups" ->
        s"$single, esper => '#groupwin(k)#length(200)#merge(k)#uni(x)', output => 'agg'",
      "values of all groups" -> (s"$single, output => 'agg', " +
        "esper => 'select irstream sum(x) as s, stddev(y) as d from S#groupwin(k)#length(100)'"),
      "several windows" -> (s"$perGroup, " +
        "windows => named_struct('few', 'KEEP 60 ROWS', 'many', 'KEEP EVERY 250 ROWS'), " +
        "output => 'withColumns', aggregates => TABLE(SELECT sum(x) AS s, stddev(y) AS d " +
        "FROM input_of_keep GROUP BY k, n, x, y), " +
        "of_windows => named_struct('s', 'few', 'd', 'many')"),
      "replaced values" -> s"$perGroup, 'KEEP 100 ROWS', ${sums(", mode => 'changes'")}",
      "a batch window" -> s"$perGroup, esper => '#length_batch(70)', ${sums()}",
      "a tumbling window" -> s"$perGroup, spl => 'tumbling, count(80)', ${sums()}",
      "a trigger" -> s"$perGroup, spl => 'sliding, count(90), count(7)', ${sums()}")
  }

  /** Rows of interleaved groups; some groups are larger than some of the windows. */
  def randomPairs(random: Random, counts: Seq[Int]): Vector[Pair] = {
    val ofGroups = counts.zipWithIndex.flatMap { case (count, k) =>
      val powers = Seq(0, 3, 12)(random.nextInt(3))
      def number() =
        Option.when(random.nextInt(20) > 0) {
          random.nextGaussian() * Math.pow(10, random.nextInt(powers + 1).toDouble) + 0.1
        }
      Seq.fill(count)(Pair(k.toLong, 0L, number(), number()))
    }
    random.shuffle(ofGroups.toVector).zipWithIndex.map { case (pair, n) =>
      pair.copy(n = n.toLong)
    }
  }
}
