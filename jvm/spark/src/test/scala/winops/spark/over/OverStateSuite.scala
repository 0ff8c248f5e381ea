package winops.spark.over

import java.io.File

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.streaming.StreamingQueryProgress

import winops.spark.testing.OneTask
import winops.testing.{Longer, TableTests}

/** The state of window functions over a stream: what is stored, restarts and limits. */
class OverStateSuite extends OverStreamTest with OneTask with TableTests {
  import testImplicits._

  private val second = 1000000L
  private val w = "PARTITION BY k ORDER BY ts, seq"

  private def quote(seq: Int, at: Long): Quote =
    Quote("a", at * second, seq, Some(seq), Some(seq * 0.5), Some(s"s$seq"))

  private def viewOf(stream: MemoryStream[Quote]): Unit =
    withTimeOf(stream.toDF()).withWatermark("ts", "0 seconds").createOrReplaceTempView(View)

  private def select(columns: String): DataFrame = spark.sql(s"SELECT seq, $columns FROM $View")

  /** Runs a query over micro-batches of `size` of the rows. */
  private def feed(
      df: DataFrame,
      stream: MemoryStream[Quote],
      checkpoint: File,
      written: Written,
      rows: Seq[Quote],
      size: Int = 1): StreamingQueryProgress = {
    val query = start(df, checkpoint.getCanonicalPath, written)
    try {
      rows.grouped(size).foreach { batch =>
        stream.addData(batch)
        query.processAllAvailable()
      }
      progressOf(query).last
    } finally query.stop()
  }

  private def rowsHeld(progress: StreamingQueryProgress): Long =
    progress.stateOperators.map(_.customMetrics.get("rowsHeld").longValue).sum

  testEach("a frame from the start of the partition stores no rows, others each row once", 2)(
    s"sum(n) OVER ($w), row_number() OVER ($w), lag(n) IGNORE NULLS OVER ($w)" -> 0,
    s"sum(n) OVER ($w ROWS 4 PRECEDING), lag(n, 3) OVER ($w)" -> 4,
    s"lead(n, 4) OVER ($w)" -> 4,
    s"lead(n, 4) OVER ($w), lag(n, 3) OVER ($w)" -> 7,
    s"collect_list(n) OVER ($w)" -> 19) { case (columns, stored) =>
    withTempDir { checkpoint =>
      val stream = memoryStream[Quote]
      viewOf(stream)
      val rows = (1 to 20).map(i => quote(i, i.toLong))
      val last = feed(select(columns), stream, checkpoint, new Written, rows, size = 7)
      // One row waits for the watermark.
      assert(rowsHeld(last) == stored + 1)
    }
  }

  private val byTime = "PARTITION BY k ORDER BY ts"

  // The last time at which rows are held, and the rows held before and after.
  testEach("rows of silent groups leave when no later row has them in a frame", 5)(
    ("RANGE BETWEEN INTERVAL 2 SECONDS PRECEDING AND INTERVAL 2 SECONDS FOLLOWING", 106L, 40, 0),
    ("RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 3 SECONDS PRECEDING", 107L, 30, 0),
    ("RANGE INTERVAL 1 MONTH PRECEDING", 104L + 34 * 86400, 50, 0),
    (s"RANGE INTERVAL 5 SECONDS PRECEDING), lag(n, 3) OVER ($byTime", 109L, 50, 5),
    (
      s"RANGE INTERVAL 5 SECONDS PRECEDING), sum(n) OVER ($byTime ROWS 70 PRECEDING",
      200L,
      50,
      52),
    ("RANGE INTERVAL 5 SECONDS PRECEDING", 109L, 50, 0),
    ("RANGE BETWEEN INTERVAL 9 SECONDS PRECEDING AND INTERVAL 5 SECONDS PRECEDING", 113L, 50, 0),
    ("RANGE INTERVAL 1 DAY PRECEDING", 104L + 4 * 86400, 50, 0),
    (
      s"RANGE INTERVAL 5 SECONDS PRECEDING), sum(n) OVER ($byTime RANGE INTERVAL 9 SECONDS PRECEDING",
      113L,
      50,
      0)) { case (frame, last, before, after) =>
    val silent = (0 until 50).map(i => quote(i, 100 + i / 10))
    def other(seq: Int, at: Long): Quote = quote(seq, at).copy(k = "b")
    withTempDir { checkpoint =>
      val stream = memoryStream[Quote]
      viewOf(stream)
      val columns = s"sum(n) OVER ($byTime $frame)"
      // A query is started for each of the times.
      def heldAt(rows: Seq[Quote]): Long =
        rowsHeld(feed(select(columns), stream, checkpoint, new Written, rows))
      stream.addData(silent)
      // One row of the other group waits for the watermark.
      assert(heldAt(Seq(other(50, Math.min(last - 2, 105)))) >= before)
      val beforeLast = heldAt(Seq(other(51, last)))
      val now = heldAt(Seq(other(52, last + 1), other(53, last + 100 * 86400)))
      assert(beforeLast >= before)
      assert(now <= after + 2)
    }
  }

  testEach(
    "a group that returns after silence has the results of a table, by rows of a batch",
    2)(23, 160, 5) { size =>
    withSQLConf("spark.sql.session.timeZone" -> "Europe/Berlin") {
      val byTime = "PARTITION BY k ORDER BY ts"
      // Around the change of the clock on 29 March 2026, with silence of up to forty days.
      val random = new scala.util.Random(9)
      var at = 1772000000L
      val rows = (0 until 160).map { i =>
        at += (if (i % 20 == 19) 86400L * random.nextInt(41) else 1 + random.nextInt(4))
        quote(i, at).copy(k = "ab".charAt(random.nextInt(2)).toString, x = Some(1.0 / (i + 1)))
      }
      val columns = Seq(
        s"sum(x) OVER ($byTime RANGE INTERVAL 3 SECONDS PRECEDING)",
        s"collect_list(n) OVER ($byTime RANGE INTERVAL 1 MONTH PRECEDING)",
        s"count(n) OVER ($byTime RANGE INTERVAL 1 DAY PRECEDING)",
        s"sum(x) OVER ($byTime RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 4 SECONDS PRECEDING)",
        s"nth_value(n, 2) OVER ($byTime RANGE INTERVAL 2 DAYS PRECEDING)",
        s"min(n) OVER ($byTime RANGE BETWEEN INTERVAL 9 SECONDS PRECEDING AND INTERVAL 2 SECONDS PRECEDING)",
        s"max(n) OVER ($byTime RANGE BETWEEN INTERVAL 1 SECOND FOLLOWING AND INTERVAL 3 SECONDS FOLLOWING)",
        s"sum(x) OVER ($byTime RANGE BETWEEN CURRENT ROW AND CURRENT ROW)",
        s"lag(n, 2) OVER ($byTime)").zipWithIndex.map { case (f, i) => s"$f AS c$i" }
      def query = select(columns.mkString(", "))
      val expected = onTable(rows)(query)
      val batches = rows.grouped(size).toSeq
      val (first, second) = batches.splitAt(batches.size / 2)
      val runs = Seq(first, second).filter(_.nonEmpty)
      assertSameRows(onStream(runs)(query), expected, s"batches of $size rows")
    }
  }

  test("an active group has one timer in the time that frames reach back", Longer) {
    withTempDir { checkpoint =>
      val stream = memoryStream[Quote]
      viewOf(stream)
      val query =
        select("sum(n) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 50 SECONDS PRECEDING)")
      def costs(first: Int): Seq[Long] = {
        val running = start(query, checkpoint.getCanonicalPath, new Written)
        try {
          (first until first + 25).foreach { i =>
            stream.addData(quote(i, 100 + i))
            running.processAllAvailable()
          }
          progressOf(running).map(
            _.stateOperators.head.customMetrics.get("stateBytesWritten").longValue)
        } finally running.stop()
      }
      val (early, late) = (costs(0), costs(200))
      // Timers that pile up would be rewritten with each micro-batch.
      assert(late.sum <= early.sum * 2, s"$early $late")
    }
  }

  test("a group whose last row waits for the next one costs nothing when time passes") {
    val silent = (0 until 500).map(i => quote(i, 100).copy(k = s"silent $i"))

    /** The number of micro-batches, and of entries written after the first one. */
    def costs(columns: String): (Int, Long) = inTempDir { checkpoint =>
      val stream = memoryStream[Quote]
      viewOf(stream)
      val running = start(select(columns), checkpoint, new Written)
      try {
        stream.addData(silent)
        running.processAllAvailable()
        (0 until 4).foreach { i =>
          stream.addData(quote(500 + i, 200 + 10 * i))
          running.processAllAvailable()
        }
        val batches = progressOf(running)
        val entries = batches.tail.map(
          _.stateOperators.head.customMetrics.get("stateEntriesWritten").longValue)
        (batches.size, entries.sum)
      } finally running.stop()
    }
    val lead = s"lead(n) OVER ($byTime)"
    val ofPast = "RANGE BETWEEN INTERVAL 5 SECONDS PRECEDING AND INTERVAL 1 SECOND PRECEDING"
    val (batches, entries) = costs(lead)
    val (batchesOfBoth, entriesOfBoth) = costs(s"$lead, sum(n) OVER ($byTime $ofPast)")
    assert(batchesOfBoth <= batches)
    // Each timer of a silent group that has passed would write an entry in each micro-batch.
    assert(entriesOfBoth - entries < 10, s"$entriesOfBoth entries instead of $entries")
  }

  test("a restart that drops a function with a longer frame releases the rows of the frame") {
    withTempDir { checkpoint =>
      val stream = memoryStream[Quote]
      viewOf(stream)
      val written = new Written
      val lag = s"lag(n) OVER ($w)"
      val rows = (1 to 21).map(i => quote(i, i.toLong))
      val before = select(s"sum(n) OVER ($w ROWS 9 PRECEDING), $lag")
      assert(rowsHeld(feed(before, stream, checkpoint, written, rows.take(20), size = 10)) == 10)
      // One row waits for the watermark.
      assert(rowsHeld(feed(select(lag), stream, checkpoint, written, rows.drop(20))) == 2)
    }
  }

  test(
    "a restart may name functions in another order, and not have a longer frame or more keys") {
    withTempDir { checkpoint =>
      val stream = memoryStream[Quote]
      viewOf(stream)
      val written = new Written
      val (sum, mean) = (s"sum(n) OVER ($w)", s"avg(x) OVER ($w ROWS 2 PRECEDING)")
      feed(
        select(s"$sum AS a, $mean AS b"),
        stream,
        checkpoint,
        written,
        (1 to 3).map(i => quote(i, i)),
        size = 3)
      val swapped = select(s"$mean AS b, $sum AS a").select("seq", "a", "b")
      feed(swapped, stream, checkpoint, written, (4 to 6).map(i => quote(i, i)), size = 3)
      val sums = written.rows.sortBy(_.getInt(0)).map(row => (row.getInt(0), row.getLong(1)))
      assert(sums == (1 to 5).map(i => (i, (1 to i).sum.toLong)))
      Seq(
        s"$sum AS a, avg(x) OVER ($w ROWS 3 PRECEDING) AS b",
        s"$sum AS a, $mean AS b".replace("BY k", "BY k, s")).foreach { other =>
        val error =
          failureOf({ stream.addData(quote(9, 9)); select(other) }, checkpoint.getCanonicalPath)
        assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"), other)
      }
    }
  }

  test("functions that differ only in IGNORE NULLS have a buffer each") {
    withTempDir { checkpoint =>
      val stream = memoryStream[Quote]
      viewOf(stream)
      val written = new Written
      val (newest, known) =
        (s"last_value(n) OVER ($w)", s"last_value(n) IGNORE NULLS OVER ($w)")
      val rows = (1 to 6).map(i => quote(i, i).copy(n = Some(i).filter(_ < 3)))
      val before = select(s"$newest AS a, $known AS b")
      feed(before, stream, checkpoint, written, rows.take(3), size = 3)
      val swapped = select(s"$known AS b, $newest AS a").select("seq", "a", "b")
      feed(swapped, stream, checkpoint, written, rows.drop(3), size = 3)
      assert(
        written.rows.sortBy(_.getInt(0)) ==
          Seq(Row(1, 1, 1), Row(2, 2, 2)) ++ (3 to 5).map(Row(_, null, 2)))
    }
  }

  test("a silent group starts again as a new partition") {
    withSQLConf(OverSettings.Idle -> "5 seconds") {
      withTempDir { checkpoint =>
        val stream = memoryStream[Quote]
        viewOf(stream)
        val written = new Written
        val times = Seq(1, 2, 9, 10, 30)
        val rows = times.zipWithIndex.map { case (at, i) => quote(i, at.toLong) }
        val columns = s"row_number() OVER ($w) AS r, lead(n) OVER ($w) AS next"
        feed(select(columns), stream, checkpoint, written, rows)
        assert(
          written.rows.sortBy(_.getInt(0)) ==
            Seq(Row(0, 1, 1), Row(1, 2, null), Row(2, 1, 3), Row(3, 2, null)))
      }
    }
  }

  test("in the order of arrival, a row waits for the next one in later micro-batches") {
    withSQLConf(OverSettings.ArrivalOrder -> "true") {
      withTempDir { checkpoint =>
        val stream = memoryStream[Quote]
        viewOf(stream)
        val written = new Written
        val query = select("lead(n) OVER (PARTITION BY k ORDER BY seq) AS next")
        feed(query, stream, checkpoint, written, Seq(quote(2, 1), quote(1, 1), quote(5, 1)))
        assert(written.rows == Seq(Row(2, 1), Row(1, 5)))
      }
    }
  }

  test("a group with too many rows") {
    withSQLConf(OverSettings.MaxRows -> "3") {
      withTempDir { checkpoint =>
        val stream = memoryStream[Quote]
        viewOf(stream)
        stream.addData((1 to 9).map(i => quote(i, i.toLong)))
        val error = failureOf(select(s"lag(n, 5) OVER ($w)"), checkpoint.getCanonicalPath)
        assert(conditionsOf(error).contains("WINOPS_MAX_ROWS"))
      }
    }
  }

  test("reading and moving the state") {
    withTempDir { folder =>
      val stream = memoryStream[Quote]
      viewOf(stream)
      val checkpoint = new File(folder, "a")
      val moved = new File(folder, "b")
      val written = new Written
      val query = select(s"sum(n) OVER ($w ROWS 2 PRECEDING) AS a, lead(n) OVER ($w) AS b")
      feed(query, stream, checkpoint, written, (1 to 4).map(i => quote(i, i.toLong)))
      def stored(column: String) =
        spark
          .sql(s"SELECT seq, $column FROM winops_state('${checkpoint.getCanonicalPath}')")
          .collect()
          .toSet
      assert(stored("_waits") == Set(Row(3, true), Row(4, true)))
      assert(stored("_leaves IS NULL") == Set(Row(3, true), Row(4, true)))
      val result = spark
        .sql(s"SELECT * FROM winops_repartition('$checkpoint', '$moved', 3)")
        .collect()
      assert(result.length == 1)
      feed(query, stream, moved, written, (5 to 6).map(i => quote(i, i.toLong)))
      assert(
        written.rows
          .sortBy(_.getInt(0)) == Seq(Row(1, 1, 2), Row(2, 3, 3), Row(3, 6, 4), Row(4, 9, 5)))
    }
  }

  test("long frames: the same bits for every cut, and those of Spark with exactFloats") {
    val rows = (1 to 400).map(i => quote(i, i.toLong).copy(x = Some(1.0 / i)))
    def query =
      select(
        s"sum(x) OVER ($w ROWS 99 PRECEDING) AS a, stddev(x) OVER ($w ROWS 40 PRECEDING) AS b")
    val whole = onStream(Seq(Seq(rows)))(query)
    val cut = onStream(Seq(rows.grouped(130).toSeq))(query)
    assertSameRows(cut, whole, "cut")
    val table = onTable(rows)(query).map(row => row.getInt(0) -> row).toMap
    assert(whole.size == 400)
    whole.foreach { row =>
      val expected = table(row.getInt(0))
      assert(Math.abs(row.getDouble(1) - expected.getDouble(1)) <= 1e-12 * 10)
    }
    withSQLConf(OverSettings.ExactFloats -> "true") {
      assertSameRows(onStream(Seq(rows.grouped(130).toSeq))(query), table.values.toSeq, "exact")
    }
  }
}
