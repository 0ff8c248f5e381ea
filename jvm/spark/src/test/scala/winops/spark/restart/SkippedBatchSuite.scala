package winops.spark.restart

import java.io.File

import org.apache.commons.io.FileUtils

import org.apache.spark.sql.DataFrame

import winops.spark.testing.{KeepStreamTest, Tick}
import winops.testing.Longer
import winops.withHistory

/** A query stops after the sink of a micro-batch has its rows, and before Spark has noted the
  * micro-batch as committed. Spark plans it again, but the sink does not run it. Its state is
  * that of the query that stopped, whichever query is started again.
  */
class SkippedBatchSuite extends KeepStreamTest {
  import KeepStreamTest._
  import SkippedBatchSuite._
  import testImplicits._

  private val former = Query("'KEEP 2 ROWS'", 2, "count(*)")
  private val changed = former.copy(more = "max(n)")
  private val smaller = former.copy(window = "'KEEP 1 ROW'", rows = 1)
  // The rows have growing values of n, so the greatest two are the newest two.
  private val other = former.copy(window = "esper => '#sort(2, n desc)'")
  private val fromTable = other.copy(isFromTable = true)

  // In version 2 of the checkpoint format, Spark cannot commit a micro-batch that a sink skips.
  for {
    (store, settings) <- stores.filterNot(_._2.contains(formatTwo))
    ((name, queries), i) <- Seq(
      "a changed query again" -> Queries(former, changed, changed),
      "the former query after another window" -> Queries(former, other, former),
      "a third query" -> Queries(former, changed, other),
      "a table in place of the state of a changed query" -> Queries(former, changed, fromTable),
      // Spark writes metadata in the first micro-batch of a run only.
      "another window, of a longer run" -> Queries(former, former, other, isOneRun = true),
      "the same query, of a longer run" -> Queries(former, former, former, isOneRun = true),
      "a changed query, of a longer run" -> Queries(former, former, changed, isOneRun = true),
      "a table, of a longer run" -> Queries(former, former, fromTable, isOneRun = true),
      "the same query" -> Queries(former, former, former),
      "the former query after a changed one" -> Queries(former, changed, former),
      "the former query after a smaller window" -> Queries(former, smaller, former),
      "another window again" -> Queries(former, other, other),
      "a table in place of the state" -> Queries(former, former, fromTable)).zipWithIndex
    tags = Longer.unless(store == "RocksDB" && i < 5)
  } test(s"a query is started behind a micro-batch of the sink: $name, $store", tags: _*)(
    withSQLConf(settings: _*)(inTempDir(check(_, queries))))

  /** The numbers of the rows before the restart. */
  private val early = 0 until 5

  private def applied(query: Query, stream: DataFrame): DataFrame = {
    val rows =
      if (query.isFromTable) withHistory(stream, early.map(tick).toDF()) else stream
    val change = if (query.isFromTable) "refuse" else "carry"
    keep(
      rows.withColumn("more", $"n" * 10),
      s"PARTITION BY (k) ORDER BY (n), ${query.window}, on_change => '$change', " +
        "output => 'agg', aggregates => TABLE(SELECT last(n) AS n, sum(more) AS s, " +
        s"${query.more} AS m FROM input_of_keep)")
  }

  private def tick(n: Int): Tick = Tick("a", n.toLong, n)

  private def check(folder: String, queries: Queries): Unit = {
    val (checkpoint, sink) = (s"$folder/checkpoint", s"$folder/sink")
    val stream = ticks()
    def run(query: Query, batches: Range*): Unit = {
      val running = applied(query, stream.toDF()).writeStream
        .format("parquet")
        .option("checkpointLocation", checkpoint)
        .start(sink)
      try {
        batches.foreach { numbers =>
          stream.addData(numbers.map(tick))
          running.processAllAvailable()
        }
      } finally running.stop()
    }
    val (first, second) = early.splitAt(3)
    if (queries.isOneRun) run(queries.before, first, second)
    else {
      run(queries.before, first)
      run(queries.stopped, second)
    }
    uncommit(new File(checkpoint), 1L)
    run(queries.after, 5 until 7)
    run(queries.after, 7 until 8)
    val written =
      spark.read.parquet(sink).select($"n", $"s").as[(Int, Long)].collect().toSeq.sorted
    val sizes = Seq(queries.before -> 3, queries.stopped -> 2, queries.after -> 3).flatMap {
      case (query, rows) => Seq.fill(rows)(query.rows)
    }
    val windows = sizes.zipWithIndex.scanLeft(Seq.empty[Int]) { case (held, (size, n)) =>
      (held :+ n).takeRight(size)
    }
    val expected = windows.tail.map(held => (held.last, held.sum * 10L))
    assert(written == expected)
  }

  private def uncommit(checkpoint: File, batch: Long): Unit =
    Seq(s"$batch", s".$batch.crc").foreach { name =>
      FileUtils.forceDelete(new File(checkpoint, s"commits/$name"))
    }
}

object SkippedBatchSuite {

  /** A query.
    *
    * @param window
    *   its window, in SQL
    * @param rows
    *   the number of rows of the window
    * @param more
    *   its second aggregate
    * @param isFromTable
    *   true if a table has the rows before the restart
    */
  private final case class Query(
      window: String,
      rows: Int,
      more: String,
      isFromTable: Boolean = false)

  /** The queries of a test.
    *
    * @param before
    *   the query of the first micro-batch
    * @param stopped
    *   the query of the second one, which stops before the commit
    * @param after
    *   the query that is started then
    * @param isOneRun
    *   true if the first two are one run of the same query
    */
  private final case class Queries(
      before: Query,
      stopped: Query,
      after: Query,
      isOneRun: Boolean = false)
}
