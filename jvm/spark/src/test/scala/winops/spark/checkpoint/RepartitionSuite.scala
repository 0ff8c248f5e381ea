package winops.spark.checkpoint

import java.io.File

import org.apache.commons.io.FileUtils

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.execution.streaming.sources.MemorySink
import org.apache.spark.sql.functions.{col, lit, struct, to_json, unix_seconds}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.apache.spark.sql.streaming.util.StreamManualClock

import winops.withHistory
import winops.spark.testing.{KeepStreamTest, ManyKeeps, Tick}
import winops.testing.{Longer, TableTests}

/** A query that is moved to other numbers of partitions emits the same rows as an unmoved one. */
class RepartitionSuite extends ManyKeeps with TableTests {
  import KeepStreamTest._
  import ManyKeeps._

  private def repartition(from: File, to: File, partitions: Int): Seq[Row] = spark
    .sql(s"SELECT * FROM winops_repartition('$from', '$to', $partitions)")
    .collect()
    .toSeq

  private def summary(from: File, calls: Int): Seq[Row] = (0 until calls).flatMap { number =>
    spark
      .sql(s"SELECT * FROM winops_state('$from', operator => $number)")
      .drop("_partition")
      .collect()
      .map(_.toString)
      .sorted
      .map(Row(number, _))
  }

  /** The files of a folder with their modification times, to detect changes. */
  private def files(folder: File): Map[String, Long] = {
    import scala.jdk.CollectionConverters._
    FileUtils
      .listFiles(folder, null, true)
      .asScala
      .map(file => file.getPath -> file.lastModified)
      .toMap
  }

  /** Starts a batch that is not committed, although its state is written and its rows are read.
    */
  private def beginBatch(query: DataFrame, checkpoint: File): Unit = {
    val failing = start(
      query,
      checkpoint.getCanonicalPath,
      new Written,
      (batch, _) => {
        batch.collect()
        throw new IllegalStateException("no disk")
      })
    try {
      val _ = intercept[StreamingQueryException](failing.processAllAvailable())
    } finally failing.stop()
  }

  /** Runs the batches in sequence, in queries of these numbers of partitions.
    *
    * @param query
    *   creates a query whose output rows are compared without their order
    * @param whenBegun
    *   true to start the first batch in a number of partitions with the previous number
    */
  private def check(
      calls: Int,
      query: MemoryStream[Tick] => DataFrame,
      data: Seq[Seq[Tick]] = batches,
      whenBegun: Boolean = false)(partitions: Int*): Unit =
    withSQLConf(SQLConf.SHUFFLE_PARTITIONS.key -> partitions.head.toString) {
      val all = data :+ heartbeat(100000)
      val whole = ticks()
      val expected = runBatches(query(whole), whole)(all: _*).rows
      withTempDir { dir =>
        val stream = ticks()
        val written = new Written
        def folder(number: Int) = new File(dir, number.toString)
        all.zipWithIndex.foreach { case (batch, number) =>
          stream.addData(batch)
          partitions.lift(number).filter(_ => number > 0).foreach { count =>
            val (from, to) = (folder(number - 1), folder(number))
            if (whenBegun) beginBatch(query(stream), from)
            val before = files(from)
            val moved = repartition(from, to, count)
            assert(files(from) == before)
            assert(moved.map(_.getLong(0)) == (0 until calls).map(_.toLong))
            assert(moved.head.getInt(1) == count)
            assert(new File(to, "state/0").list().count(_.forall(_.isDigit)) == count)
            if (number == 1) assert(summary(to, calls) == summary(from, calls))
          }
          runAll(
            query(stream),
            folder(Math.min(number, partitions.size - 1)).getCanonicalPath,
            written)
        }
        val texts = (rows: Seq[Row]) => rows.map(_.toString).sorted
        assert(texts(written.rows) == texts(expected))
      }
    }

  private def check(calls: Seq[Call], partitions: Int*): Unit =
    check(calls.size, manyKeeps(_, calls))(partitions: _*)

  testEach[(String, (File, File) => Unit)](
    "a micro-batch that replaces the state by a table has the same rows in a moved checkpoint",
    short = 1)(
    "repartitioned" -> { (from, to) =>
      val _ = repartition(from, to, 3)
    },
    "without a group that is not there" -> { (from, to) =>
      val _ = spark.sql(s"SELECT * FROM winops_forget('$from', '$to', \"k = 'z'\")").collect()
    }) { case (_, move) =>
    import testImplicits._
    val call = "PARTITION BY (k) ORDER BY (n), 'KEEP 9 ROWS', time => 'ts'"
    val other = call.replace("(n)", "(n DESC)")
    val early = Seq(Tick("a", 1, 1), Tick("b", 2, 2), Tick("a", 3, 3), Tick("b", 50, 4))
    val later = Seq(Tick("a", 60, 5), Tick("b", 70, 6))
    def resultOf(change: (File, File) => Unit): (Seq[String], Seq[Row]) = {
      var result = (Seq.empty[String], Seq.empty[Row])
      withTempDir { dir =>
        val (from, to, files) = (new File(dir, "from"), new File(dir, "to"), s"$dir/table")
        withTime(early.toDF()).coalesce(1).write.parquet(files)
        val stream = ticks()
        stream.addData(early)
        runAll(keep(timed(stream), call), from.getPath)
        stream.addData(later)
        def query: DataFrame =
          keep(withHistory(timed(stream), spark.read.parquet(files)), other)
        beginBatch(query, from)
        assert(new File(from, "history").exists)
        withTime(Seq(Tick("a", 2, 99)).toDF()).coalesce(1).write.mode("append").parquet(files)
        change(from, to)
        val rows = runAll(query, to.getPath).rows.map(_.toString).sorted
        result = (rows, summary(to, 1))
      }
      result
    }
    val (rows, state) = resultOf(copyCheckpoint)
    assert(rows.nonEmpty && state.nonEmpty)
    assert(!state.exists(_.toString.contains("99")))
    assert(resultOf(move) == ((rows, state)))
  }

  test("groups by themselves, groups that depend on each other, and none: 3, 5 and 1") {
    check(moved, 3, 5, 1)
  }

  /** A call with a group for each key, and a call with timers. */
  private val divided = Seq(1, 3).map(all)

  test("deadlines of silent groups, and groups that are made smaller, on RocksDB", Longer) {
    withSQLConf(rocksDb)(check(divided, 2, 3, 1))
  }

  testEach(
    "a batch that was begun and not committed is done again, in checkpoint format 2 too",
    short = 1)(Seq(2, 3), Seq(2, 3, 1)) { partitions =>
    withSQLConf(rocksDb, changelog, formatTwo) {
      check(divided.size, manyKeeps(_, divided), whenBegun = true)(partitions: _*)
    }
  }

  // ForgetSuite moves groups with aggregates too.
  test("what is stored beside the rows for aggregates goes with them", Longer) {
    check(aggregated.size, values(_, aggregated), Seq(batches.flatten, later), whenBegun = true)(
      2,
      3)
  }

  /** Further rows of the groups, none of them late. */
  private val later = (800 until 1100).map(n => Tick(s"group ${n % 7}", 118L + n % 9, n))

  /** Aggregates of windows that store buffer blocks, trees, parts, and counts. */
  private val aggregated = {
    val functions = "sum(n) AS total, max(k) AS last, count(DISTINCT k) AS groups, " +
      "approx_count_distinct(n) AS about, percentile_approx(n, 0.5) AS middle"
    def of(what: String, rest: String = "") =
      s"aggregates => TABLE(SELECT $what FROM input_of_keep$rest)"
    val byParity = "PARTITION BY (n % 2) ORDER BY (n)"
    val byGroup = "PARTITION BY (k) ORDER BY (n)"
    val atOnce = "time => 'ts', apply => 'arrival'"
    Seq(
      s"$byParity, 'KEEP 290 ROWS', $atOnce, output => 'agg', ${of(functions)}",
      s"$byParity, esper => '#sort(20, n desc)', time => 'ts', output => 'withColumns', " +
        of("n - min(n) AS behind, percentile_approx(n, 0.5) AS middle", " GROUP BY k, ts, n"),
      s"$byGroup, 'KEEP 5 SECONDS', time => 'ts', idle => '3 seconds', output => 'agg', " +
        of("n % 3 AS third, count(DISTINCT n) AS numbers, max(k) AS last", " GROUP BY n % 3"),
      "WITH SINGLE PARTITION ORDER BY (n), " +
        s"esper => '#groupwin(k)#length(2)#merge(k)#uni(n, k)', $atOnce, output => 'agg'")
  }

  private def values(stream: MemoryStream[Tick], calls: Seq[String]): DataFrame =
    calls.zipWithIndex
      .map { case (call, number) =>
        keep(timed(stream), call).select(lit(number), to_json(struct(col("*"))))
      }
      .reduce(_.union(_))

  test("a query that goes by the time of its batches") {
    val stream = ticks()
    val clock = new StreamManualClock
    val sink = new MemorySink
    val changes =
      keep(stream.toDF(), "PARTITION BY (k) ORDER BY (n), 'KEEP 5 SECONDS', idle => '20 seconds'")
        .select(
          col("_change_type"),
          unix_seconds(col("_change_time")),
          col("_change_seq"),
          col("k"),
          col("n"))
    var expected = Set.empty[Row]
    def emits(changes: (String, Long, Long, String, Int)*) = AssertOnQuery { _ =>
      expected ++= changes.map(Row.fromTuple)
      eventually(timeout(streamingTimeout))(assert(sink.allData.toSet == expected))
      true
    }
    def started(folder: File) = StartStream(
      Trigger.ProcessingTime("1 second"),
      triggerClock = clock,
      checkpointLocation = folder.getCanonicalPath)
    withTempDir { dir =>
      val (from, to) = (new File(dir, "from"), new File(dir, "to"))
      testStream(changes, sink = sink)(
        started(from),
        AddData(stream, Tick("a", 0, 1), Tick("b", 0, 2), Tick("c", 0, 3)),
        AdvanceManualClock(1000),
        emits(("insert", 1, 0, "a", 1), ("insert", 1, 0, "b", 2), ("insert", 1, 0, "c", 3)),
        Execute { query =>
          eventually(timeout(streamingTimeout)) {
            assert(query.commitLog.getLatestBatchId().contains(0L))
          }
        },
        StopStream,
        Execute { _ =>
          assert(repartition(from, to, 5) == Seq(Row(0L, 5, 3L, 3L)))
        },
        started(to),
        AddData(stream, Tick("a", 0, 4)),
        AdvanceManualClock(10000),
        emits(
          ("delete", 6, 1, "a", 1),
          ("delete", 6, 1, "b", 2),
          ("delete", 6, 1, "c", 3),
          ("insert", 11, 2, "a", 4)),
        // Group b was removed at 21; group a was not silent for as long.
        AddData(stream, Tick("a", 0, 5), Tick("b", 0, 6)),
        AdvanceManualClock(15000),
        emits(("delete", 16, 3, "a", 4), ("insert", 26, 4, "a", 5), ("insert", 26, 0, "b", 6)))
      assert(sink.allData.size == expected.size)
    }
  }

  test("what cannot be moved is refused, and nothing is written") {
    withTempDir { dir =>
      val (from, to) = (new File(dir, "from"), new File(dir, "to"))
      def refused(partitions: Int = 3): String =
        intercept[org.apache.spark.sql.AnalysisException](
          repartition(from, to, partitions)).getCondition
      assert(refused() == "WINOPS_CHECKPOINT_NOT_FOUND")
      val stream = ticks()
      stream.addData(batches.head)
      val kept = keep(timed(stream), few(1).arguments)
      runAll(kept.dropDuplicatesWithinWatermark("n"), from.getPath)
      assert(refused() == "WINOPS_CHECKPOINT_OTHER_STATE")
      assert(refused(0) == "WINOPS_ARGUMENT.VALUE")
      assert(!to.exists)
      FileUtils.deleteDirectory(from)
      beginBatch(kept, from)
      assert(refused() == "WINOPS_CHECKPOINT_BATCH")
      assert(!to.exists)
      runAll(kept, from.getPath)
      FileUtils.write(new File(to, "something"), "", "UTF-8")
      assert(refused() == "WINOPS_CHECKPOINT_EXISTS")
      assert(to.list().toSeq == Seq("something"))
    }
  }
}
