package winops.spark.restart

import scala.util.{Failure, Random, Success, Try}

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.{lit, struct, to_json}

import winops.spark.testing.{KeepStreamTest, RandomProperties, Reading, Readings}

/** Restarts of random queries with another query. A query that continues, or whose state is
  * rebuilt, gives what a new query gives for the same rows; after a refused one the former query
  * continues. Runs as many times as `-Dchanges=` specifies.
  */
class ChangedQueriesSuite extends KeepStreamTest with RandomProperties {
  import ChangedQueriesSuite._
  import testImplicits._

  (0 until Runs).foreach { run =>
    property(s"a changed query: run ${run + 1}") { random =>
      check(random, ChangedQueries.all(run % ChangedQueries.all.size))
    }
  }

  private def check(random: Random, change: Change): Unit = {
    val (before, now) = Iterator
      .continually(ChangedQueries.randomQuery(random))
      .flatMap(query => change.make(random, query).map(query -> _))
      .next()
    val size = if (before.window.policy.exists(_.isDigit) && random.nextInt(6) == 0) 900 else 60
    val readings = Readings.random(random, Seq.fill(6)(1 + random.nextInt(size))) match {
      case some => some :+ Readings.heartbeat(some.size.toLong)
    }
    val cut = 1 + random.nextInt(readings.size - 1)
    val (early, late) = readings.splitAt(cut)
    withClue(
      s"${change.name}: from ${before.call} over ${before.columns} to ${now.call} over ${now.columns}: ") {
      withTempDir { folder =>
        val checkpoint = folder.getCanonicalPath
        val stream = memoryStream[Reading]
        val first = run(before, stream, split(random, early), checkpoint)
        val batches = split(random, late)
        Try(run(now, stream, batches, checkpoint)) match {
          case Success(second) =>
            assert(change.outcome.severity < Outcome.NeedsHistory.severity, "was not refused")
            assertAsNew(first, before, second, now, early, late)
          case Failure(error) =>
            val hasNumbers = error.getMessage.contains("one kind of changes only") ||
              error.getMessage.contains("group needs history") || error.getMessage.contains(
                "share state")
            assert(
              change.outcome.severity >= Outcome.NeedsHistory.severity || hasNumbers,
              error.getMessage.take(1500))
            assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"), error.getMessage)
            val rest = run(before, stream, batches.tail, checkpoint)
            assertAsNew(first, before, rest, before, early, late)
        }
      }
    }
  }

  private def run(
      query: KeepQuery,
      stream: MemoryStream[Reading],
      batches: Seq[Seq[Reading]],
      checkpoint: String): Seq[Row] = {
    val written = new Written
    val input = Readings.columns(stream.toDF()).selectExpr(query.columns: _*)
    val running =
      start(
        comparable(query, keep(input.withWatermark("ts", Readings.Disorder), query.call)),
        checkpoint,
        written)
    try {
      running.processAllAvailable()
      batches.foreach { batch =>
        stream.addData(batch)
        running.processAllAvailable()
      }
    } finally running.stop()
    written.rows
  }

  /** The rows that a new query emits for the rows of both starts. */
  private def assertAsNew(
      first: Seq[Row],
      before: KeepQuery,
      second: Seq[Row],
      now: KeepQuery,
      early: Seq[Reading],
      late: Seq[Reading]): Unit = {
    val table =
      tableOf(now, stored(before, now, early), tableOf(late).selectExpr(now.columns: _*))
    val expected = comparable(now, keep(table, now.call)).collect().toSeq
    val (got, all) = (second.map(_.getString(2)), expected.map(_.getString(2)))
    val surplus = got.diff(all)
    assert(surplus.isEmpty, s"\ntoo many: ${surplus.take(3)}\nof ${all.take(100)}")
    if (before.output == now.output && before.mode == now.mode) {
      assert(first.size + second.size == expected.size)
    } else if (Seq(before, now).forall(_.output != "withColumns")) {
      val last = first.groupMapReduce(_.getLong(0))(_.getLong(1))(_ max _)
      val rest = expected.filter(row => row.getLong(1) > last.getOrElse(row.getLong(0), -1L))
      assert(rest.map(_.getString(2)).diff(got).isEmpty)
    }
  }

  /** The rows of the first start as the second one reads them. */
  private def stored(before: KeepQuery, now: KeepQuery, early: Seq[Reading]): DataFrame = {
    val rows = tableOf(early).selectExpr(before.columns: _*)
    val types = tableOf(early).selectExpr(now.columns: _*).schema
    rows.select(types.fields.toIndexedSeq.map { column =>
      if (rows.columns.contains(column.name))
        rows(column.name).cast(column.dataType).as(column.name)
      else lit(null).cast(column.dataType).as(column.name)
    }: _*)
  }

  private def tableOf(query: KeepQuery, early: DataFrame, late: DataFrame): DataFrame =
    early.union(late).select(query.names.map(org.apache.spark.sql.functions.col): _*)

  private def tableOf(readings: Seq[Reading]): DataFrame =
    Readings.columns(spark.sparkContext.parallelize(readings, 1).toDF())

  /** The group, the number of the change, and all columns as JSON. */
  private def comparable(query: KeepQuery, result: DataFrame): DataFrame = {
    // Without a time column, the time of changes is that of the micro-batch.
    val omitted = if (query.window.time.isEmpty) Seq("_change_time") else Nil
    val columns = result.columns.diff(omitted).sorted.map(result(_))
    val number = if (result.columns.contains("_change_seq")) $"_change_seq" else lit(0L)
    result
      .filter($"k" >= 0)
      .select($"k", number, to_json(struct(columns.toIndexedSeq: _*), KeepNulls))
  }

  private def split(random: Random, rows: Seq[Reading]): Seq[Seq[Reading]] = {
    val cuts = Seq.fill(2)(random.nextInt(rows.size + 1)).distinct.sorted
    (0 +: cuts)
      .zip(cuts :+ rows.size)
      .map { case (from, until) => rows.slice(from, until) }
      .filter(_.nonEmpty)
  }
}

private object ChangedQueriesSuite {
  val Runs: Int = sys.props.get("changes").fold(ChangedQueries.all.size)(_.toInt)

  val KeepNulls = {
    val options = new java.util.HashMap[String, String]
    options.put("ignoreNullFields", "false")
    options
  }
}
