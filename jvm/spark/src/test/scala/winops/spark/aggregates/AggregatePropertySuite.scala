package winops.spark.aggregates

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.{lit, udaf}

import winops.spark.testing.{AggregateCheck, ContentSteps, FreshAggregates, KeepStreamTest, OneTask, RandomProperties, RandomWindow, RandomWindows, Reading, Readings, RollingHash, SameBits}
import winops.testing.Longer

/** Aggregates over windows equal Spark's own aggregates of the contents after each change. */
class AggregatePropertySuite extends KeepStreamTest with OneTask with RandomProperties {
  import AggregatePropertySuite._
  import testImplicits._

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark.udf.register("rolling", udaf(RollingHash))
  }

  // A part has windows of all dialects.
  for (part <- 1 to Parts) {
    property(
      s"each value is that of the function computed afresh: part $part of $Parts",
      Longer.unless(part == 1): _*) { random =>
      val readings = Readings.random(random, Seq.fill(200)(1 + random.nextInt(9)))
      val table = tableOf(readings)
      val named = new RandomWindows(random)
      val windows = named.combined(5) ++ named.ccl ++ named.apama ++ named.esper
      val emitted = partOf(windows, part).map { window =>
        withClue(s"${window.call}: ") {
          val some = random.shuffle(Functions).take(15)
          val steps =
            ContentSteps.replay(keep(table, window.callForChanges).collect().toSeq).toVector
          val ofSteps = aggregates(some)(table, window).collect().toSeq
          (window, some, steps, ofSteps, columns(table, window).collect().toSeq)
        }
      }
      val check = checkOf(readings, emitted.flatMap(_._3.map(_.content)), Functions)
      emitted.foreach { case (window, some, steps, ofSteps, ofInserts) =>
        withClue(s"${window.call}: ") {
          check.ofSteps(steps, some, ofSteps)
          check.ofInserts(steps, ColumnFunctions, ofInserts)
        }
      }
    }
  }

  for (part <- 1 to Parts) {
    property(
      s"windows that report by themselves: the values are of the content by then, part $part of $Parts",
      Longer.unless(part == 1): _*) { random =>
      val readings = Readings.random(random, Seq.fill(200)(1 + random.nextInt(9)))
      val table = tableOf(readings)
      val emitted = partOf(new RandomWindows(random).reporting, part).map { window =>
        withClue(s"${window.call}: ") {
          val contents =
            ContentSteps.afterEach(keep(table, window.callForChanges).collect().toSeq)
          val reports = aggregates(Functions)(table, window).collect().toSeq.map { row =>
            contents((row.getLong(0), row.getLong(1))) -> row
          }
          assert(reports.size == keep(table, s"${window.call}, output => 'snapshots'").count())
          (window, reports)
        }
      }
      val check = checkOf(readings, emitted.flatMap(_._2.map(_._1)), Functions)
      emitted.foreach { case (window, reports) =>
        withClue(s"${window.call}: ")(check.ofReports(reports, Functions))
      }
    }
  }

  for (run <- 1 to 2) {
    val tags = Longer.unless(run == 1)
    property(s"a stream that is restarted gives what a table does: run $run", tags: _*) {
      random =>
        val readings = Readings.random(random, Seq.fill(200)(1 + random.nextInt(12)))
        val all = readings :+ Readings.heartbeat(readings.size.toLong)
        val named = new RandomWindows(random)
        val windows = random.shuffle(named.ccl ++ named.apama ++ named.esper)
        windows.zip(Seq[Output](aggregates(Functions), columns)).foreach {
          case (window, output) =>
            withClue(s"${window.call}: ") {
              // The heartbeat's own group is excluded: its rows depend on the end of time.
              def known(rows: Seq[Row]) = AggregateCheck.keyed(rows.filter(_.getLong(0) >= 0))
              val expected = known(output(tableOf(all), window).collect().toSeq)
              val got = known(stream(random, all, window, output))
              AggregateCheck.checkKeys(got.keySet, expected.keySet)
              expected.foreach { case (key, row) =>
                assert(SameBits.same(row, got(key)), s"$row on a table, ${got(key)} on a stream")
              }
            }
        }
    }
  }

  for (run <- 1 to 2) {
    property(
      s"windows that report by themselves: a stream that is restarted reports as a table, run $run",
      Longer.unless(run == 1): _*) { random =>
      val readings = Readings.random(random, Seq.fill(60)(1 + random.nextInt(9)))
      val all = readings :+ Readings.heartbeat(readings.size.toLong)
      // On a stream, time ends at the watermark.
      val end = all.last.micros / 1000 - 2000
      def byGroup(rows: Seq[Row]): Map[Any, Seq[Row]] = rows
        .filter(row => row.getLong(0) >= 0 && row.getTimestamp(2).getTime < end)
        .groupBy(_.get(0))
      // The first report of a micro-batch may come from a timer, before any change in it.
      val byTime = new RandomWindows(random).reporting.filter(_.policy.contains("time"))
      random.shuffle(byTime).take(2).foreach { window =>
        withClue(s"${window.call}: ") {
          val output: Output = aggregates(Functions.take(5))
          val expected = byGroup(output(tableOf(all), window).collect().toSeq)
          val got = byGroup(stream(random, all, window, output))
          assert(expected.nonEmpty)
          assert(got.keySet == expected.keySet)
          expected.foreach { case (group, rows) =>
            assert(
              SameBits.same(got(group), rows),
              s"${got(group)} on a stream, $rows on a table")
          }
        }
      }
    }
  }

  property("windows of hundreds and thousands of rows, on a stream that is restarted", Longer) {
    random =>
      val readings = Readings.random(random, Seq(3000, 4000, 300))
      random.shuffle(new RandomWindows(random).large).take(2).foreach { window =>
        withClue(s"${window.call}: ") {
          val changes = keep(tableOf(readings), window.callForChanges).collect().toSeq
          val steps = ContentSteps.replay(changes).filter(_ => random.nextInt(50) == 0).toVector
          val isSampled = steps.map(step => (step.k, step.sequence)).toSet
          val onTable =
            AggregateCheck.keyed(
              aggregates(LargeFunctions)(tableOf(readings), window).collect().toSeq)
          val onStream =
            AggregateCheck.keyed(stream(random, readings, window, aggregates(LargeFunctions)))
          AggregateCheck.checkKeys(onStream.keySet, onTable.keySet)
          onStream.foreach { case (key, row) =>
            // A table has no processing time, so the time column is not compared.
            val (got, expected) = (row.toSeq.drop(3), onTable(key).toSeq.drop(3))
            assert(SameBits.same(got, expected), s"$expected on a table, $got on a stream")
          }
          val rows = onStream.collect { case (key, row) if isSampled(key) => row }.toSeq
          checkOf(readings, steps.map(_.content), LargeFunctions)
            .ofSteps(steps, LargeFunctions, rows)
        }
      }
  }

  private def partOf[A](all: Seq[A], part: Int): Seq[A] =
    all.zipWithIndex.collect { case (one, i) if i % Parts == part - 1 => one }

  private def checkOf(
      readings: Vector[Reading],
      contents: Seq[Vector[Long]],
      functions: Seq[String]): AggregateCheck =
    new AggregateCheck(readings, new FreshAggregates(spark, readings).of(contents, functions))

  private def tableOf(readings: Seq[Reading]): DataFrame =
    Readings.columns(spark.sparkContext.parallelize(readings, 1).toDF())

  private def aggregates(
      functions: Seq[String])(df: DataFrame, window: RandomWindow): DataFrame = {
    val named = functions.zipWithIndex.map { case (function, i) => s"$function AS value$i" }
    val query = s"SELECT ${named.mkString(", ")} FROM input_of_keep"
    // Without a time column, the change time of a stream is the batch time, which varies.
    val time = window.time.fold(lit(null))(_ => $"_change_time")
    val values = functions.indices.map(i => $"value$i")
    keep(df, s"${window.call}, output => 'agg', aggregates => TABLE($query)")
      .select(Seq($"k", $"_change_seq", time) ++ values: _*)
  }

  private def columns(df: DataFrame, window: RandomWindow): DataFrame = {
    val named = ColumnFunctions.zipWithIndex.map { case (function, i) => s"$function AS value$i" }
    val query = s"SELECT x - avg(x) AS off, ${named.mkString(", ")} FROM input_of_keep " +
      s"GROUP BY ${df.columns.mkString(", ")}"
    val values = ColumnFunctions.indices.map(i => $"value$i")
    keep(df, s"${window.call}, output => 'withColumns', aggregates => TABLE($query)")
      .select(Seq($"k", $"n", $"x", $"off") ++ values: _*)
  }

  /** The output of a stream that receives the readings in a few batches and restarts once between
    * them.
    */
  private def stream(
      random: Random,
      readings: Seq[Reading],
      window: RandomWindow,
      output: Output): Seq[Row] = withSQLConf(KeepStreamTest.rocksDb) {
    val source = memoryStream[Reading]
    val written = new Written
    val batches = split(random, readings, 4)
    val (before, after) = batches.splitAt(1 + random.nextInt(batches.size - 1))
    withTempDir { dir =>
      Seq(before, after).foreach { some =>
        val df = Readings.columns(source.toDF()).withWatermark("ts", Readings.Disorder)
        val query = start(output(df, window), dir.getCanonicalPath, written)
        try
          some.foreach { batch =>
            source.addData(batch)
            query.processAllAvailable()
          }
        finally query.stop()
      }
    }
    written.rows
  }

  private def split[A](random: Random, values: Seq[A], parts: Int): Seq[Seq[A]] = {
    val cuts = Seq.fill(parts - 1)(1 + random.nextInt(values.size - 1)).distinct.sorted
    (0 +: cuts).zip(cuts :+ values.size).map { case (from, until) => values.slice(from, until) }
  }
}

private object AggregatePropertySuite {
  val Parts = 3

  /** A query for aggregates, with the columns by which [[AggregateCheck]] identifies its rows. */
  type Output = (DataFrame, RandomWindow) => DataFrame

  val Functions: Seq[String] = Seq(
    "sum(x)",
    "avg(x)",
    "min(x)",
    "max(x)",
    "stddev(x)",
    "corr(n, z)",
    "count(DISTINCT i)",
    "first(text)",
    "last(x)",
    "max_by(n, i)",
    "collect_list(i)",
    // Spark itself merges percentiles wrongly if one of the values is NaN.
    "percentile_approx(IF(isnan(x), NULL, x), array(0.1, 0.5, 0.9))",
    "approx_count_distinct(text)",
    "bit_xor(i)",
    "histogram_numeric(i, 4)",
    "rolling(n)",
    "count(*)",
    "min(text)",
    "sum(amount)",
    "avg(amount)",
    "min_by(text, y)",
    "last(i, true)",
    "collect_list(struct(n, text))",
    "max(x) - min(x)",
    "sum(i * 2 + n) + count(text)",
    "first(text) || '-' || last(text)",
    "sum(x) FILTER (WHERE text = 'a')",
    "collect_list(n) FILTER (WHERE i > 0)",
    "count(DISTINCT x)",
    "sum(DISTINCT amount)",
    "count(DISTINCT text, i)",
    "count(DISTINCT i) FILTER (WHERE y > 0)")

  /** A sample of functions for an expression over a row and its aggregates. */
  val ColumnFunctions: Seq[String] =
    Seq("avg(x)", "collect_list(i)", "count(DISTINCT i)", "rolling(n)", "max(x) - min(x)")

  /** Functions for windows that are aggregated in parts. */
  val LargeFunctions: Seq[String] = Seq(
    "sum(x)",
    "avg(y)",
    "sum(amount)",
    "stddev(y)",
    "corr(n, z)",
    "min(i)",
    "min(text)",
    "max(amount)",
    "first(n)",
    "last(n)",
    "first(text)",
    "last(x)",
    "rolling(n)",
    "count(DISTINCT i)",
    "sum(i) FILTER (WHERE x > 0)")
}
