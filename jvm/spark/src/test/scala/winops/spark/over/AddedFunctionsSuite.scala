package winops.spark.over

import scala.util.{Failure, Random, Success, Try}

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.streaming.StreamingQueryException

import winops.spark.testing.{OneTask, RandomProperties}
import winops.testing.{Longer, TableTests}

/** Restarts of a query with further window functions of the same PARTITION BY and ORDER BY. */
class AddedFunctionsSuite
    extends OverStreamTest
    with OneTask
    with RandomProperties
    with TableTests {
  import AddedFunctionsSuite._
  import testImplicits._

  private val second = 1000000L
  private val w = "PARTITION BY k ORDER BY ts, seq"
  private val t = "PARTITION BY k ORDER BY ts"

  private def select(functions: Seq[String]): DataFrame = {
    val columns = functions.zipWithIndex.map { case (function, i) => s"$function AS c$i" }
    spark.sql(s"SELECT *, ${columns.mkString(", ")} FROM $View")
  }

  private def viewOf(stream: MemoryStream[Quote]): Unit =
    withTimeOf(stream.toDF()).withWatermark("ts", "0 seconds").createOrReplaceTempView(View)

  private def quotes(count: Int): Seq[Quote] = (1 to count).map { i =>
    Quote(
      if (i % 3 == 0) "b" else "a",
      (i / 2) * second,
      i,
      Some(i % 7).filter(_ > 0),
      Some(i * 0.25),
      Some(s"s${i % 5}"))
  }

  /** Runs a query, then another one with its checkpoint over further micro-batches, of which the
    * last flushes; returns the rows of each.
    */
  private def restarted(
      before: Seq[String],
      now: Seq[String],
      batches: Seq[Seq[Quote]],
      of: Int): (Seq[Row], Seq[Row]) = {
    var starts = 0
    val rows = onStream(Seq(batches.take(of), batches.drop(of))) {
      starts += 1
      select(if (starts == 1) before else now)
    }
    rows.partition(_.size == Columns + before.size)
  }

  /** Compares the rows after a restart with those of a table with all rows. */
  private def assertAsTable(
      rows: Seq[Row],
      earlier: Seq[Row],
      functions: Seq[String],
      batches: Seq[Seq[Quote]],
      hint: String): Unit = {
    val emitted = rows.map(_.getInt(2)).toSet
    val known = emitted ++ earlier.map(_.getInt(2))
    val all = batches.flatten.filter(row => known(row.seq))
    val expected = onTable(all)(select(functions))
    assertSameRows(rows, expected.filter(row => emitted(row.getInt(2))), hint)
  }

  // The functions of a query, and those that a restart adds.
  testEach("added", 7)(
    (
      "an aggregate and lag of the stored rows",
      Seq(s"sum(n) OVER ($w ROWS 4 PRECEDING)"),
      Seq(s"max(n) OVER ($w ROWS 4 PRECEDING)", s"lag(n, 4, -1) OVER ($w)")),
    (
      "lead, for which rows begin to wait",
      Seq(s"sum(n) OVER ($w ROWS 1 PRECEDING)"),
      Seq(s"lead(n) OVER ($w)")),
    (
      "beside a running total",
      Seq(s"sum(n) OVER ($w)"),
      Seq(s"min(n) OVER ($w ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING)")),
    (
      "rows that wait",
      Seq(s"lead(n, 3) OVER ($w)", s"lag(n, 2) OVER ($w)"),
      Seq(s"sum(n) OVER ($w ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)")),
    (
      "an interval, and peers by a shorter order, beside rows of a longer order",
      Seq(s"min(n) OVER ($t RANGE INTERVAL 5 SECONDS PRECEDING)", s"lag(n, 2) OVER ($w)"),
      Seq(
        s"max(n) OVER ($t RANGE INTERVAL 3 SECONDS PRECEDING)",
        s"count(n) OVER ($t RANGE CURRENT ROW)")),
    (
      "an equal interval of days",
      Seq(s"avg(n) OVER ($t RANGE INTERVAL 1 DAY PRECEDING)"),
      Seq(s"max(n) OVER ($t RANGE INTERVAL 1 DAY PRECEDING)")),
    (
      "a running total, and lag with IGNORE NULLS, where all rows are stored",
      Seq(s"collect_list(n) OVER ($w)"),
      Seq(s"sum(n) OVER ($w)", s"lag(n, 2) IGNORE NULLS OVER ($w)")),
    (
      "a rank where all rows are stored",
      Seq(s"collect_list(struct(ts, seq)) OVER ($w)"),
      Seq(s"rank() OVER ($w)")),
    (
      "a shorter frame",
      Seq(s"avg(x) OVER ($w ROWS 40 PRECEDING)"),
      Seq(s"sum(x) OVER ($w ROWS 34 PRECEDING)")),
    (
      "a shorter time, and peers",
      Seq(s"avg(n) OVER ($t RANGE INTERVAL 5 SECONDS PRECEDING)"),
      Seq(
        s"count(n) OVER ($t RANGE BETWEEN INTERVAL 3 SECONDS PRECEDING AND INTERVAL 1 SECOND FOLLOWING)",
        s"count(n) OVER ($t RANGE CURRENT ROW)"))) { case (name, before, added) =>
    val rows = quotes(160)
    val batches = Seq(rows.take(90), rows.slice(90, 130), rows.drop(130))
    val now = before ++ added
    val (earlier, later) = restarted(before, now, batches, 1)
    assert(earlier.nonEmpty && later.nonEmpty)
    assert((earlier ++ later).map(_.getInt(2)).sorted == rows.map(_.seq), "each row once")
    assertAsTable(later, earlier, now, batches, name)
  }

  // Frames of which blocks are stored, and an added one before, between or behind them.
  Seq(
    (Seq(199, 99), s"sum(x) OVER ($w ROWS 149 PRECEDING)"),
    (Seq(99, 399), s"min(x) OVER ($w ROWS 99 PRECEDING)"),
    (Seq(399), s"min(x) OVER ($w ROWS 199 PRECEDING)"),
    (Seq(399), s"min(x) OVER ($w ROWS 399 PRECEDING)"),
    (Seq(399, 299), s"lag(x, 100) OVER ($w)")).zipWithIndex.foreach {
    case ((lengths, added), i) =>
      val name = s"added beside frames of ${lengths.mkString(" and ")} rows: $added"
      test(name, Longer.unless(i == 0): _*) {
        val rows = quotes(1400).map(row => row.copy(x = row.x.map(_ * (row.seq * 7919 % 101))))
        val before = lengths.zipWithIndex.map { case (length, i) =>
          s"${Seq("max", "sum")(i)}(x) OVER ($w ROWS $length PRECEDING)"
        }
        // Few rows of a group in a micro-batch, before the restart and after it.
        val batches = (rows.take(1200) +: rows.slice(1200, 1224).grouped(6).toSeq) ++
          rows.slice(1224, 1260).grouped(6) :+ rows.drop(1260)
        val (earlier, later) = restarted(before, before :+ added, batches, 5)
        assert((earlier ++ later).map(_.getInt(2)).sorted == rows.map(_.seq), "each row once")
        assertAsTable(later, earlier, before :+ added, batches, added)
      }
  }

  private val allRows = "all rows of the partition"

  // A function of a query, and functions that cannot be added, with what they need.
  testEach("refused beside")(
    s"lag(n, 2) OVER ($w)" -> Seq(
      s"lag(n, 3) OVER ($w)" -> "the 3 rows before",
      s"lag(s, 1) OVER ($w)" -> "the column s of the row before",
      s"sum(n) OVER ($w)" -> allRows,
      s"lag(n) IGNORE NULLS OVER ($w)" -> allRows),
    s"sum(n) OVER ($w)" -> Seq(
      s"max(n) OVER ($w)" -> allRows,
      s"row_number() OVER ($w)" -> allRows),
    s"sum(n) OVER ($t RANGE INTERVAL 5 SECONDS PRECEDING)" -> Seq(
      s"sum(n) OVER ($t RANGE INTERVAL 6500 MILLISECONDS PRECEDING)" ->
        "the rows of the 6.5 seconds before"),
    s"sum(n) OVER ($t RANGE INTERVAL 2 DAYS PRECEDING)" -> Seq(
      s"sum(n) OVER ($t RANGE INTERVAL 1 DAY PRECEDING)" ->
        "the rows of INTERVAL '-1' DAY before")) { case (before, refused) =>
    assertContinues(Seq(before)) { checkpoint =>
      refused.foreach { case (added, needed) =>
        withClue(s"$added: ") {
          val error = failureOf(select(Seq(before, added)), checkpoint)
          assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"))
          val text = causes(error)
          assert(text.contains("the added function ") && text.contains(needed), text)
        }
      }
    }
  }

  test("a query with an added function that failed does not refuse the former query") {
    val before = Seq(s"lag(n, 2) OVER ($w)")
    assertContinues(before) { checkpoint =>
      val added = select(before :+ s"max(n) OVER ($w ROWS 1 PRECEDING)")
      val failing =
        start(added, checkpoint, new Written, (_, _) => throw new IllegalStateException("sink"))
      intercept[StreamingQueryException] {
        try failing.processAllAvailable()
        finally failing.stop()
      }
    }
  }

  /** Asserts that a query continues its checkpoint after another one that fails with it. */
  private def assertContinues(functions: Seq[String])(fail: String => Unit): Unit =
    withTempDir { folder =>
      val rows = quotes(60)
      val stream = memoryStream[Quote]
      viewOf(stream)
      val (checkpoint, written) = (folder.getCanonicalPath, new Written)
      stream.addData(rows.take(40))
      val _ = runAll(select(functions), checkpoint, written)
      stream.addData(rows.drop(40))
      fail(checkpoint)
      val _ = runAll(select(functions), checkpoint, written)
      assert(written.rows.size > 50)
      assertAsTable(written.rows, Nil, functions, Seq(rows), "the former query")
    }

  test("after a function was added: the state is read and moved, and the function is removed") {
    withTempDir { folder =>
      val rows = quotes(60)
      val before = Seq(s"lag(n, 2) OVER ($w)")
      val now = before :+ s"max(n) OVER ($w ROWS 1 PRECEDING)"
      val stream = memoryStream[Quote]
      viewOf(stream)
      val (checkpoint, moved) = (s"$folder/a", s"$folder/b")
      val written = new Written
      stream.addData(rows.take(20))
      val _ = runAll(select(before), checkpoint, written)
      stream.addData(rows.slice(20, 40))
      val _ = runAll(select(now), checkpoint, written)
      val stored = spark.sql(s"SELECT seq FROM winops_state('$checkpoint')").collect()
      assert(stored.map(_.getInt(0)).toSet == Set(40))
      assert(
        spark.sql(s"SELECT * FROM winops_repartition('$checkpoint', '$moved', 3)").count() == 1)
      stream.addData(rows.drop(40))
      val without = runAll(select(before), checkpoint).rows
      assert(without.nonEmpty)
      // A memory stream goes with one checkpoint.
      val again = memoryStream[Quote]
      viewOf(again)
      rows.grouped(20).foreach(again.addData(_))
      val _ = runAll(select(now), moved, written)
      val (earlier, later) = written.rows.partition(_.size == Columns + before.size)
      assertAsTable(later, earlier, now, Seq(rows), "moved")
      assertAsTable(without, written.rows, before, Seq(rows), "removed")
    }
  }

  property("random functions") { random =>
    var added = 0
    for (run <- 0 until Runs) {
      val over = new RandomOver(new Random(random.nextLong()))
      val rows = over.quotes(100)
      val functions = over.functions(6, follows = true, Seq(StoresAll)).distinct
      // In every second run, the rows that are stored depend on the functions.
      val before = functions.slice(run % 2, 4)
      val cuts = Seq.fill(3)(1 + random.nextInt(rows.size - 1)).sorted
      val batches = (0 +: cuts :+ rows.size).distinct
        .sliding(2)
        .collect { case Seq(from, until) => rows.slice(from, until) }
        .toSeq
      // Each function that may be added is, one after the other.
      functions.drop(4).foreach { function =>
        val now = before :+ function
        Try(restarted(before, now, batches, 1)) match {
          case Success((earlier, later)) =>
            added += 1
            val repeated = earlier.map(_.getInt(2)).intersect(later.map(_.getInt(2)))
            assert(repeated.isEmpty, s"$before + $function")
            assertAsTable(later, earlier, now, batches, s"$before + $function")
          case Failure(error) =>
            assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"), causes(error))
        }
      }
    }
    assert(added > 0)
  }

  private def causes(error: Throwable): String =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).map(_.getMessage).mkString("\n")
}

private object AddedFunctionsSuite {

  /** The number of columns of a row. */
  val Columns = 6

  /** A function for which all rows are stored with all columns. */
  val StoresAll = "percentile(n + x + length(s) + seq + unix_seconds(ts), 0.5)"

  val Runs: Int = sys.props.get("over").fold(2)(_.toInt)
}
