package winops.spark.execution

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.timestamp_micros
import org.apache.spark.sql.streaming.StateOperatorProgress

import winops.Interval
import winops.spark.testing.LookupTest
import winops.testing.Longer

/** The bytes that rows write which look a window up, over a day with micro-batches of 10 minutes.
  */
class LookupBytesSuite extends LookupTest {
  import LookupBytesSuite._
  import testImplicits._

  test("a row that looks up costs at most what a row costs that waits and enters", Longer) {
    val windows = day((trades, _) => columns(trades))
    val ofAsks = day((_, asks) => columns(asks.withColumnRenamed("placed", "ts")))
    val lookups = day { (trades, asks) =>
      lookup(trades, asks, s"'$Window'", s"aggregates => TABLE($Aggregates)")
    }
    val ofRow = (bytesOf(lookups) - bytesOf(windows)) / Rows
    info(s"bytes per row: ${bytesOf(windows) / Rows} of the window, $ofRow that looks up")
    assert(ofRow <= bytesOf(ofAsks) / Rows)
    assertFlat(lookups)
    assert(lookups.last.numRowsTotal - windows.last.numRowsTotal <= MostWaiting)
  }

  test("the state of a join has the newest row of each key over a day", Longer) {
    Seq("backward" -> Keys, "forward" -> (2 * RowsPerBatch)).foreach { case (direction, most) =>
      val joins = day { (trades, asks) =>
        joinedByKey(
          asks,
          trades,
          direction = direction,
          tolerance = Interval.ofText("10 minutes"))
      }
      info(s"$direction: ${bytesOf(joins) / (2 * Rows)} bytes per row")
      assertFlat(joins)
      // Beside the rows of the window, those that wait for the watermark are held.
      val held = joins.last.customMetrics.get("rowsHeld").longValue
      val waiting = joins.last.customMetrics.get("rowsWaiting").longValue
      assert(held - waiting <= most, s"$direction: $held held, $waiting wait")
      assert(waiting <= 2 * MostWaiting, s"$direction: $waiting wait")
    }
  }

  private def columns(rows: DataFrame): DataFrame = {
    val key = rows.columns.head
    keep(
      rows,
      s"PARTITION BY ($key) ORDER BY (n), '$Window', time => 'ts', output => 'withColumns', " +
        s"aggregates => TABLE($Aggregates)")
  }

  /** The progress of the operator in each micro-batch of a day. */
  private def day(query: (DataFrame, DataFrame) => DataFrame): Seq[StateOperatorProgress] =
    withSQLConf("spark.sql.streaming.numRecentProgressUpdates" -> "1000") {
      // One source, so that each micro-batch has rows of both kinds.
      val stream = memoryStream[Event]
      def rows(isAsk: Boolean) = stream.toDF().where($"isAsk" === isAsk)
      val time = timestamp_micros($"micros")
      val trades = rows(isAsk = false).select($"k", time.as("ts"), $"n", $"x")
      val asks = rows(isAsk = true).select($"k".as("sym"), time.as("placed"), $"n", $"x")
      val result =
        query(trades.withWatermark("ts", "1 hour"), asks.withWatermark("placed", "1 hour"))
      inTempDir { checkpoint =>
        val running = start(result, checkpoint, new Written)
        try {
          (0 until Batches).foreach { batch =>
            stream.addData(eventsOf(batch))
            running.processAllAvailable()
          }
          running.recentProgress.toSeq.flatMap(_.stateOperators.headOption)
        } finally running.stop()
      }
    }

  private def assertFlat(batches: Seq[StateOperatorProgress]): Unit = {
    val hours = batches.grouped(batches.size / 24).take(24).map(bytesOf).toSeq
    // The first hours fill the windows and what waits.
    val early = hours.slice(3, 9).sum
    val late = hours.slice(18, 24).sum
    assert(late <= 1.1 * early, hours)
  }

  private def bytesOf(batches: Seq[StateOperatorProgress]): Long =
    batches.map(_.customMetrics.get("stateBytesWritten").longValue).sum
}

private object LookupBytesSuite {

  /** A row of a window, or one that looks it up. */
  final case class Event(isAsk: Boolean, k: String, micros: Long, n: Int, x: Double)

  val Window = "KEEP 20 ROWS"
  val Aggregates = "SELECT count(*) AS c, avg(x) AS m, last(n) AS l FROM input_of_keep"
  val Batches: Int = 24 * 6
  val Keys = 20

  /** The rows of each kind in a micro-batch. */
  val RowsPerBatch = 100
  val Rows: Int = Batches * RowsPerBatch

  /** The rows of each kind in the time of the delay, of the micro-batch itself, and of the one
    * before, whose watermark it has.
    */
  val MostWaiting: Int = 8 * RowsPerBatch

  private val MicrosPerBatch = 600L * 1000 * 1000

  private def eventsOf(batch: Int): Seq[Event] =
    for (i <- 0 until RowsPerBatch; isAsk <- Seq(false, true)) yield {
      val micros = batch * MicrosPerBatch + i * (MicrosPerBatch / RowsPerBatch)
      Event(isAsk, s"k${i % Keys}", micros, batch * RowsPerBatch + i, i.toDouble)
    }
}
