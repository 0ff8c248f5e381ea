package winops.spark.restart

import java.io.File

import org.apache.commons.io.FileUtils

import org.apache.spark.sql.DataFrame

import winops.spark.testing.{KeepStreamTest, Tick}

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

  // In version 2 of the checkpoint format, Spark cannot commit a micro-batch that a sink skips.
  for {
    (store, settings) <- stores.filterNot(_._2.contains(formatTwo))
    (name, queries) <- Seq(
      "the same query" -> Queries(former, former, former),
      "a changed query again" -> Queries(former, changed, changed),
      "the former query after a changed one" -> Queries(former, changed, former),
      "the former query after a smaller window" -> Queries(former, smaller, former),
      "another window again" -> Queries(former, other, other),
      "the former query after another window" -> Queries(former, other, former),
      "a third query" -> Queries(former, changed, other))
  } test(s"a query is started behind a micro-batch of the sink: $name, $store")(
    withSQLConf(settings: _*)(inTempDir(check(_, queries))))

  private def applied(query: Query, df: DataFrame): DataFrame = keep(
    df.withColumn("more", $"n" * 10),
    s"PARTITION BY (k) ORDER BY (n), ${query.window}, on_change => 'carry', output => 'agg', " +
      "aggregates => TABLE(SELECT last(n) AS n, sum(more) AS s, " +
      s"${query.more} AS m FROM input_of_keep)")

  private def check(folder: String, queries: Queries): Unit = {
    val (checkpoint, sink) = (s"$folder/checkpoint", s"$folder/sink")
    val stream = ticks()
    def run(query: Query, numbers: Range): Unit = {
      stream.addData(numbers.map(n => Tick("a", n.toLong, n)))
      val running = applied(query, stream.toDF()).writeStream
        .format("parquet")
        .option("checkpointLocation", checkpoint)
        .start(sink)
      try running.processAllAvailable()
      finally running.stop()
    }
    run(queries.before, 0 until 3)
    run(queries.stopped, 3 until 5)
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
    */
  private final case class Query(window: String, rows: Int, more: String)

  /** The query before that which stops, that query, and the one that is started after it. */
  private final case class Queries(before: Query, stopped: Query, after: Query)
}
