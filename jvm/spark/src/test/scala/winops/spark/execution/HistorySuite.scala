package winops.spark.execution

import org.apache.spark.sql.{DataFrame, Row}

import winops.{readState, withHistory}
import winops.spark.testing.{KeepStreamTest, Tick}

/** Streams that start with a table. */
class HistorySuite extends KeepStreamTest {
  import testImplicits._

  private val history = Seq(
    Tick("a", 100, 1),
    Tick("b", 101, 2),
    Tick("a", 102, 3),
    Tick("a", 104, 4),
    Tick("b", 110, 5))

  private val rows = Seq(
    Seq(Tick("a", 111, 6), Tick("b", 112, 7)),
    Seq(Tick("a", 115, 8), Tick("c", 116, 9)),
    Seq(Tick("c", 140, 10), Tick("a", 140, 11)))

  private val numbers = "KEEP 2 ROWS"
  private val timed = s"PARTITION BY (k) ORDER BY (n), '$numbers', time => 'ts'"

  private def table: DataFrame = withTime(history.toDF())

  /** The output of a query and the state that it leaves; each micro-batch is a start. */
  private def run(
      batches: Seq[Seq[Tick]],
      delay: String,
      history: Option[(DataFrame, String)] = None)(
      query: DataFrame => DataFrame): (Written, Seq[Row]) = {
    val stream = ticks()
    val rows = withTime(stream.toDF()).withWatermark("ts", delay)
    val input = history.fold(rows) { case (table, emit) => withHistory(rows, table, emit) }
    val written = new Written
    var state = Seq.empty[Row]
    withTempDir { checkpoint =>
      batches.foreach { batch =>
        stream.addData(batch)
        runAll(query(input), checkpoint.getCanonicalPath, written)
      }
      state = readState(spark, checkpoint.getCanonicalPath)
        .drop("_partition", "_row")
        .collect()
        .toSeq
    }
    (written, state)
  }

  private def sorted(rows: Seq[Row]): Seq[String] = rows.map(_.toString).sorted

  private def timeOf(row: Row): Long =
    row.getAs[java.sql.Timestamp]("_change_time").getTime / 1000

  test("changes after a table are those after the same rows of a stream") {
    Seq("0 seconds", "5 seconds").foreach { delay =>
      val (all, state) = run(history +: rows, delay)(keep(_, timed))
      val (warm, warmState) = run(rows, delay, Some(table -> "none"))(keep(_, timed))
      assert(sorted(warm.rows) == sorted(all.rows.filter(timeOf(_) > 110)), delay)
      assert(sorted(warmState) == sorted(state))
      val (loud, loudState) = run(rows, delay, Some(table -> "all"))(keep(_, timed))
      assert(sorted(loud.rows) == sorted(all.rows), delay)
      assert(sorted(loudState) == sorted(state))
    }
  }
}
