package winops.spark.over

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.timestamp_micros
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

import winops.spark.testing.KeepStreamTest

/** A row of the tests of window functions; `at` is its time in microseconds since the epoch. */
final case class Quote(
    k: String,
    at: Long,
    seq: Int,
    n: Option[Int],
    x: Option[Double],
    s: Option[String])

/** Runs queries with window functions over a stream and over a table of the same rows. */
trait OverStreamTest extends KeepStreamTest {
  import testImplicits._

  protected val View = "quotes"

  protected def withTimeOf(quotes: DataFrame): DataFrame =
    quotes.select($"k", timestamp_micros($"at").as("ts"), $"seq", $"n", $"x", $"s")

  /** The rows of a query over a table. */
  protected def onTable(rows: Seq[Quote])(query: => DataFrame): Seq[Row] = {
    withTimeOf(rows.toDF()).createOrReplaceTempView(View)
    query.collect().toSeq
  }

  /** The rows of a query over a stream, whose last micro-batch flushes. Each of `runs` is a start
    * of the query and has its micro-batches.
    *
    * @param before
    *   puts rows before those of the stream
    * @param delay
    *   the delay of the watermark
    */
  protected def onStream(
      runs: Seq[Seq[Seq[Quote]]],
      before: DataFrame => DataFrame = identity,
      delay: String = "0 seconds")(query: => DataFrame): Seq[Row] = {
    val stream = memoryStream[Quote]
    before(withTimeOf(stream.toDF()).withWatermark("ts", delay))
      .createOrReplaceTempView(View)
    val written = new Written
    withTempDir { checkpoint =>
      runs.zipWithIndex.foreach { case (batches, i) =>
        val isLast = i == runs.size - 1
        val (early, end) = if (isLast) batches.splitAt(batches.size - 1) else (batches, Nil)
        if (early.nonEmpty) {
          val running = start(query, checkpoint.getCanonicalPath, written)
          try {
            early.foreach { batch =>
              stream.addData(batch)
              running.processAllAvailable()
            }
          } finally running.stop()
        }
        end.foreach { batch =>
          stream.addData(batch)
          withSQLConf(OverSettings.AtEnd -> "flush") {
            flush(query, checkpoint.getCanonicalPath, written)
          }
        }
      }
    }
    written.rows
  }

  /** Runs a query over the available rows once, and to its end. */
  protected def flush(df: DataFrame, checkpoint: String, written: Written): StreamingQuery = {
    val write = (batch: DataFrame, id: Long) => written.add(id, batch.collect().toSeq)
    val query = df.writeStream
      .option("checkpointLocation", checkpoint)
      .trigger(Trigger.AvailableNow())
      .foreachBatch(write)
      .start()
    try query.awaitTermination()
    finally query.stop()
    query
  }

  /** Compares rows as sets with multiplicity, floating-point numbers by their bits. */
  protected def assertSameRows(streamed: Seq[Row], expected: Seq[Row], hint: String): Unit = {
    val (left, right) = (streamed.map(bits).sorted, expected.map(bits).sorted)
    val missing = right.diff(left)
    val surplus = left.diff(right)
    assert(
      missing.isEmpty && surplus.isEmpty,
      s"\n$hint\nof ${right.size} rows are missing:\n${missing.take(5).mkString("\n")}\n" +
        s"of ${left.size} rows are too many:\n${surplus.take(5).mkString("\n")}")
  }

  /** Compares the first column, which identifies a row, with each of the further columns, so that
    * an error names the column.
    */
  protected def assertSameColumns(
      streamed: Seq[Row],
      expected: Seq[Row],
      columns: Seq[String]): Unit = columns.indices.foreach { i =>
    def one(rows: Seq[Row]) = rows.map(row => Row(row.get(0), row.get(i + 1)))
    assertSameRows(one(streamed), one(expected), columns(i))
  }

  private def bits(row: Row): String = row.toSeq
    .map {
      case number: Double => s"$number/${java.lang.Double.doubleToLongBits(number)}"
      case other => String.valueOf(other)
    }
    .mkString("|")
}
