package winops.spark.restart

import java.io.File
import java.nio.file.{Files, Paths}

import scala.jdk.CollectionConverters._
import scala.util.{Failure, Random, Success, Try}

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.{col, from_json, lit, struct, to_json}
import org.apache.spark.sql.streaming.Trigger

import winops.withHistory
import winops.spark.plan.Application
import winops.spark.testing.{KeepStreamTest, RandomProperties, Reading, Readings}
import winops.testing.Longer

/** Restarts of random queries with another query, at least one for each rule of
  * `docs/restarts.md`. The plan of the restart names the outcome of the rule.
  *
  * A query that continues, or whose state is rebuilt, gives what a new query gives for the same
  * rows; one that needs history does so with a new checkpoint and the former rows as a table.
  * Rows that are carried over, and windows of another length, have changes that a consumer can
  * apply. The first micro-batch of some restarts fails when the state is stored, and runs again.
  * After a refusal the former query continues. Runs as many times as `-Dchanges=` specifies.
  */
class ChangedQueriesSuite extends KeepStreamTest with RandomProperties {
  import ChangedQueriesSuite._
  import KeepStreamTest._
  import testImplicits._

  (0 until Runs).foreach { run =>
    val change = ChangedQueries.all(run % ChangedQueries.all.size)
    val tags = Longer.unless(ShortRuns(run))
    property(s"${change.rule}: ${change.outcome.name}: run ${run + 1}", tags: _*) { random =>
      // A note of the page may give another outcome for the drawn window.
      val outcomes = LazyList.continually(check(random, change)).take(MostDraws)
      assert(outcomes.contains(change.outcome))
    }
  }

  test("each rule of the page is drawn, with its outcome") {
    val drawn = (ChangedQueries.all.filterNot(_.isOfNote).map(c => c.rule -> c.outcome) ++
      ChangedFunctionsSuite.Changes.flatMap(_.rule)).groupMap(_._1)(_._2)
    val rules = rulesOf(Paths.get("docs", "restarts.md"))
    assert(rules.size > 45)
    rules.foreach { case (rule, outcome) =>
      if (!ChangedQueries.OfVersions(rule)) {
        assert(drawn.get(rule).map(_.toSet).contains(outcomesIn(outcome)), rule)
      }
    }
    val known = rules.map(_._1).toSet
    assert((drawn.keySet ++ ChangedQueries.OfVersions).diff(known).isEmpty)
    assert(Runs >= ChangedQueries.all.size)
  }

  /** The first two cells of each rule, without the numbers of notes. */
  private def rulesOf(page: java.nio.file.Path): Seq[(String, String)] =
    Files
      .readString(page)
      .split("\n\n")
      .toSeq
      .filter(_.startsWith("| Change | Outcome |"))
      .flatMap(_.split('\n').drop(2))
      .map(_.split('|').map(_.replaceAll(" \\[\\d+\\]", "").trim))
      .map(cells => cells(1) -> cells(2))

  private def outcomesIn(cell: String): Set[Outcome] =
    Outcome.all.filter(outcome => cell.contains(outcome.name.stripPrefix("is "))).toSet

  /** Draws two queries, and checks the restart; returns the outcome in its plan. */
  private def check(random: Random, change: Change): Outcome = {
    val (before, now) = change.draw(random)
    val size = if (before.window.policy.exists(_.isDigit) && random.nextInt(6) == 0) 900 else 60
    val some = Readings.random(random, Seq.fill(6)(1 + random.nextInt(size)))
    val last = Readings.heartbeat(some.size.toLong)
    val readings =
      some :+ last.copy(micros = Math.max(last.micros, some.map(_.micros).max + Later))
    val (early, late) = readings.splitAt(1 + random.nextInt(readings.size - 1))
    var outcome: Outcome = Outcome.Continues
    withClue(s"from ${before.call} over ${before.columns} to ${now.call} over ${now.columns}: ") {
      withTempDir { folder =>
        val restart = new Restart(folder, before, now, early, late)
        outcome = restart.check(random, change)
      }
    }
    outcome
  }

  private final class Restart(
      folder: File,
      before: KeepQuery,
      now: KeepQuery,
      early: Seq[Reading],
      late: Seq[Reading]) {
    private val stream = memoryStream[Reading]
    private val other = memoryStream[Reading]

    def check(random: Random, change: Change): Outcome = {
      val first = run(before, Readings.batches(random, early))
      val (outcome, reasons) = withSQLConf(now.settings.toSeq: _*) {
        if (now.place != before.place) copyCheckpoint(place(before), place(now))
        planOf(now)
      }
      assert(outcome == change.outcome || isOfNote(reasons), reasons)
      val batches = if (now.flushes) Seq(late) else Readings.batches(random, late)
      val isFailing =
        outcome.severity < Outcome.NeedsHistory.severity && !now.flushes && random.nextBoolean()
      if (isFailing) failFirst(batches.head)
      Try(run(now, if (isFailing) batches.tail else batches)) match {
        case Success(second) =>
          assert(outcome.severity < Outcome.NeedsHistory.severity, "was not refused")
          change.check match {
            case Change.AsNew => assertAsNew(first, before, second, now)
            case Change.Consistent => assertConsistent(first ++ second)
            case Change.LastRows => assertLastRows(first, second)
            case Change.PlanOnly =>
          }
        case Failure(error) =>
          assert(outcome.severity >= Outcome.NeedsHistory.severity, error.getMessage.take(1500))
          assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"), error.getMessage)
          // The refused query has read the first of the micro-batches.
          val rest = run(before, batches.tail)
          if (change.check != Change.PlanOnly) {
            assertAsNew(first, before, rest, before)
            // Without a time, the micro-batches decide the order of other columns than n.
            if (outcome == Outcome.NeedsHistory &&
              (now.orderBy == before.orderBy || now.window.time.contains(
                Application.EventTime))) {
              assertAsNewWithHistory(batches)
            }
          }
      }
      outcome
    }

    /** Without `idle`, a text with `unique` has smaller groups, but not with aggregates. */
    private def isOfNote(reasons: String): Boolean =
      OfNotes.exists(reasons.contains) ||
        now.window.policy.contains("unique") && reasons.contains("applied in another way")

    private def place(query: KeepQuery): File = new File(folder, query.place)

    /** The outcome for the whole state, and the reasons for those of the differences. */
    private def planOf(query: KeepQuery): (Outcome, String) = {
      val rows = restartPlanOf(result(query, streamOf(query, stream)), place(query).toString)
      val whole = rows.find(_.getAs[String]("subject") == "whole state").get
      val outcome = Outcome.all.find(_.name == whole.getAs[String]("outcome")).get
      (outcome, rows.map(_.getAs[String]("because")).mkString(" "))
    }

    private def streamOf(query: KeepQuery, rows: MemoryStream[Reading]): DataFrame = {
      val all = if (query.isUnion) rows.toDF().union(other.toDF()) else rows.toDF()
      val read = Readings.columns(all).selectExpr(query.columns: _*)
      (if (query.isRepartitioned) read.repartition(2) else read)
        .withWatermark(query.time, query.delay)
    }

    private def result(query: KeepQuery, input: DataFrame): DataFrame = {
      val kept = keep(input, query.call)
      query.kind.fold(kept)(kind => kept.where($"_change_type" === kind))
    }

    /** Runs the first micro-batch of the second query, whose sink fails when the state is stored.
      */
    private def failFirst(batch: Seq[Reading]): Unit = withSQLConf(now.settings.toSeq: _*) {
      stream.addData(batch)
      val query = comparable(now, result(now, streamOf(now, stream)))
      val running = start(
        query,
        place(now).getPath,
        new Written,
        (batch, _) => {
          val _ = batch.collect()
          throw new IllegalStateException("the sink fails")
        })
      val outcome =
        try Try(running.processAllAvailable())
        finally running.stop()
      assert(outcome.failed.get.getMessage.contains("the sink fails"))
    }

    private def run(query: KeepQuery, batches: Seq[Seq[Reading]]): Seq[Row] =
      withSQLConf(query.settings.toSeq: _*) {
        val input = streamOf(query, stream)
        run(comparable(query, result(query, input)), place(query), stream, batches, query.flushes)
      }

    private def run(
        query: DataFrame,
        checkpoint: File,
        source: MemoryStream[Reading],
        batches: Seq[Seq[Reading]],
        flushes: Boolean): Seq[Row] = {
      val written = new Written
      if (flushes) {
        batches.foreach(source.addData(_))
        val write = (batch: DataFrame, id: Long) => written.add(id, batch.collect().toSeq)
        val running = query.writeStream
          .option("checkpointLocation", checkpoint.getPath)
          .trigger(Trigger.AvailableNow())
          .foreachBatch(write)
          .start()
        try running.awaitTermination()
        finally running.stop()
      } else {
        val running = start(query, checkpoint.getPath, written)
        try {
          running.processAllAvailable()
          batches.foreach { batch =>
            source.addData(batch)
            running.processAllAvailable()
          }
        } finally running.stop()
      }
      written.rows
    }

    /** Compares what both starts emitted with a new query. */
    private def assertAsNew(
        first: Seq[Row],
        before: KeepQuery,
        second: Seq[Row],
        now: KeepQuery): Unit = {
      val expected = ofNew(before, now)
      val (got, all) = (second.map(textOf), expected.map(textOf))
      val surplus = got.diff(all)
      assert(surplus.isEmpty, s"\ntoo many: ${surplus.take(3)}\nof ${all.take(100)}")
      def form(query: KeepQuery) = (query.output, query.mode, query.kind)
      if (form(before) == form(now)) {
        assert(first.size + second.size == expected.size)
      } else if (Seq(before, now).forall(query => isNumbered(query) && query.kind.isEmpty)) {
        val last = first.groupMapReduce(_.getLong(0))(_.getLong(1))(_ max _)
        val rest = expected.filter(row => row.getLong(1) > last.getOrElse(row.getLong(0), -1L))
        assert(rest.map(textOf).diff(got).isEmpty)
      }
    }

    private def isNumbered(query: KeepQuery): Boolean =
      query.output == "changes" || query.output == "agg"

    /** The rows of a new query for the rows of both starts. */
    private def ofNew(before: KeepQuery, now: KeepQuery): Seq[Row] =
      withSQLConf(now.settings.toSeq: _*) {
        val rows = stored(before, now).union(tableOf(late).selectExpr(now.columns: _*))
        comparable(now, result(now, rows.select(now.names.map(col): _*))).collect().toSeq
      }

    /** The rows of the first start as the second one reads them. */
    private def stored(before: KeepQuery, now: KeepQuery): DataFrame = {
      val rows = tableOf(early).selectExpr(before.columns: _*)
      val types = tableOf(early).selectExpr(now.columns: _*).schema
      rows.select(types.fields.toIndexedSeq.map { column =>
        val value =
          if (rows.columns.exists(_.equalsIgnoreCase(column.name))) rows(column.name)
          else lit(null)
        value.cast(column.dataType).as(column.name)
      }: _*)
    }

    /** A new checkpoint of the query, whose stream begins with the rows of the first start, has
      * the output of a new query.
      */
    private def assertAsNewWithHistory(batches: Seq[Seq[Reading]]): Unit = {
      val source = memoryStream[Reading]
      val got = withSQLConf(now.settings.toSeq: _*) {
        val history = Readings.columns(early.toDF()).selectExpr(now.columns: _*)
        val input = withHistory(streamOf(now, source), history, "all")
        val query = comparable(now, result(now, input))
        run(query, new File(folder, "with-history"), source, batches, flushes = false)
      }
      val expected = ofNew(now, now).map(textOf)
      val missing = expected.diff(got.map(textOf))
      assert(missing.isEmpty, s"\nwith history are missing: ${missing.take(3)}")
      assert(got.size == expected.size, "with history")
    }

    /** A consumer that applies all changes never deletes a row that it does not have, and ends
      * with the rows that the state has.
      */
    private def assertConsistent(changes: Seq[Row]): Unit = {
      val held = changes.groupBy(_.getLong(0)).map { case (k, ofGroup) =>
        val sorted = ofGroup.sortBy(_.getLong(1))
        val numbers = sorted.map(_.getLong(1))
        assert(numbers == numbers.indices, s"numbers of group $k")
        k -> sorted.foldLeft(Set.empty[Long]) { (content, change) =>
          val n = change.getLong(4)
          if (change.getString(3) == "insert") {
            assert(!content(n), s"row $n is inserted twice")
            content + n
          } else {
            assert(content(n), s"row $n is deleted and was not there")
            content - n
          }
        }
      }
      // Rows that wait for a trigger are stored and not inserted; others wait to be deleted.
      if (!now.window.policy.contains("batch") && !now.window.policy.contains(" every ")) {
        val rows = spark.sql(s"SELECT k, n FROM winops_state('${place(now)}') WHERE k >= 0")
        val stored = rows.collect().groupMap(_.getLong(0))(_.getLong(1))
        held.foreach { case (k, content) =>
          assert(content == stored.get(k).fold(Set.empty[Long])(_.toSet))
        }
      }
    }

    /** The rows that the window held at the restart stay until the new length displaces them. */
    private def assertLastRows(first: Seq[Row], second: Seq[Row]): Unit = {
      def length(query: KeepQuery) =
        query.window.policy.split(" ")(1).toIntOption.getOrElse(Int.MaxValue)
      val expected = late.filter(_.k >= 0).groupBy(_.k).flatMap { case (k, rows) =>
        val held = early.filter(_.k == k).map(_.n).takeRight(length(before))
        rows
          .map(_.n)
          .scanLeft(held -> -1L) { case ((content, _), n) =>
            (content :+ n).takeRight(length(now)) -> n
          }
          .tail
          .map { case (content, n) => n -> (content.size.toLong, content.min) }
      }
      val values = second.map { row =>
        val of = row.getStruct(5)
        row.getLong(4) -> (of.getLong(0), of.getLong(1))
      }
      assert(values.toMap == expected.toMap)
      assert(first.size + second.size == early.size + late.count(_.k >= 0))
    }
  }

  private def tableOf(readings: Seq[Reading]): DataFrame =
    Readings.columns(spark.sparkContext.parallelize(readings, 1).toDF())

  private def textOf(row: Row): String = row.getString(2)

  /** The group, the number of the change, all columns as JSON, the kind of the change, the number
    * of the row, and two aggregates.
    */
  private def comparable(query: KeepQuery, result: DataFrame): DataFrame = {
    // Without a time column, the time of changes is that of the micro-batch.
    val omitted = if (query.window.time.isEmpty) Seq("_change_time") else Nil
    val columns = result.columns.diff(omitted).sorted.map(result(_))
    val json = to_json(struct(columns.toIndexedSeq: _*), JsonOptions)
    def orElse(name: String, value: Any) =
      if (result.columns.contains(name)) result(name) else lit(value)
    val row = if (result.columns.contains("n")) $"n".cast("long") else lit(0L)
    result
      .filter($"k" >= 0)
      .select(
        $"k",
        orElse("_change_seq", 0L),
        json,
        orElse("_change_type", ""),
        row,
        from_json(json, "value0 BIGINT, value1 BIGINT", Map.empty[String, String]))
  }

}

private object ChangedQueriesSuite {
  val Runs: Int = Math.max(ChangedQueries.all.size, sys.props.get("changes").fold(0)(_.toInt))

  /** One run for each outcome and check of what the second query emits. */
  private val ShortRuns: Set[Int] = ChangedQueries.all.zipWithIndex
    .filter { case (change, _) => change.check != Change.PlanOnly }
    .groupMap { case (change, _) => (change.outcome, change.check) }(_._2)
    .values
    .map(_.head)
    .toSet

  private val MostDraws = 20

  /** Microseconds after which no timer of the windows is due. */
  private val Later = 20000000L

  /** Reasons for which a note of the page gives another outcome than its table. */
  private val OfNotes =
    Seq("one kind of changes only", "inserts only or deletes only", "share state")

  /** Options for all fields, in one time zone. */
  val JsonOptions: java.util.Map[String, String] =
    Map("ignoreNullFields" -> "false", "timeZone" -> "UTC").asJava
}
