package winops.peers

import java.nio.file.Files

import org.apache.spark.sql.{DataFrame, Encoder, Encoders, ForeachWriter, Row, SparkSession}
import org.apache.spark.sql.streaming._

/** Measures the time from the moment at which a program adds a row to a source to that at which a
  * sink gets its insert, in one JVM. Prints the percentiles in milliseconds.
  *
  * Arguments: the candidate, rows per second, seconds that are measured, rows of a window, and
  * the number of keys.
  */
object Latency {
  private val Parts = 2

  def main(arguments: Array[String]): Unit = {
    val Array(candidate, rate, seconds, window, keys) = arguments: @unchecked
    val spark = SparkSession.builder().appName("latency").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try {
      val parts = MemoryTopic.create(candidate, Parts)
      val query = start(candidate, MemoryTopic.stream(spark, candidate), window.toInt)
      try {
        // Each key is in one partition.
        val feed = new SteadyFeed(
          rate.toInt,
          keys.toInt,
          (key, number) => parts(key % parts.length).add(key, number))
        val warm = feed.run(SteadyFeed.WarmUpSeconds)
        val end = feed.run(seconds.toInt)
        awaitAll(query, end)
        println(LatencySink.inserts.line(candidate, rate, warm, end))
      } finally query.stop()
    } finally spark.stop()
  }

  /** Starts the query of a candidate; its name says the operator and the mode. */
  private def start(candidate: String, rows: DataFrame, window: Int): StreamingQuery = {
    val (operator, mode) = candidate.span(_ != ',')
    val changes = operator match {
      case "stateless" => rows.selectExpr("k", "id", "sent", "true AS enters").where("id >= 0")
      case "ring" => ring(rows, window)
      case "winops" => kept(rows, window)
      case other => throw new IllegalArgumentException(s"no candidate: $other")
    }
    val writer = changes.writeStream
      .foreach(new LatencySink)
      .option("checkpointLocation", Files.createTempDirectory("latency").toString)
    if (mode == ",real-time") {
      writer.outputMode("update").trigger(Trigger.RealTime("5 minutes")).start()
    } else writer.outputMode(if (operator == "winops") "append" else "update").start()
  }

  /** The changes of windows of some rows of each key, in the order of arrival. */
  private[peers] def kept(rows: DataFrame, window: Int): DataFrame = {
    rows.createOrReplaceTempView("rows")
    rows.sparkSession
      .sql(s"SELECT * FROM keep(TABLE(rows) PARTITION BY (k) ORDER BY (id), 'KEEP $window ROWS')")
      .selectExpr("k", "id", "sent", "_change_type = 'insert' AS enters")
  }

  private def ring(rows: DataFrame, window: Int): DataFrame = {
    implicit val key: Encoder[Int] = Encoders.scalaInt
    implicit val sent: Encoder[SentRow] = Encoders.product
    implicit val change: Encoder[SentChange] = Encoders.product
    rows
      .as[SentRow]
      .groupByKey(_.k)
      .transformWithState(new SentRing(window), TimeMode.None(), OutputMode.Update())
      .toDF()
  }

  private def awaitAll(query: StreamingQuery, end: Long): Unit = {
    val until = System.nanoTime + 60000000000L
    while (query.isActive && LatencySink.inserts.count < end && System.nanoTime < until) {
      Thread.sleep(200)
    }
    query.exception.foreach(throw _)
  }
}

private final class LatencySink extends ForeachWriter[Row] {
  override def open(partition: Long, epoch: Long): Boolean = true

  override def process(row: Row): Unit = {
    val now = System.nanoTime
    if (row.getAs[Boolean]("enters")) {
      LatencySink.inserts.add(row.getAs[Long]("id"), now - row.getAs[Long]("sent"))
    }
  }

  override def close(error: Throwable): Unit = ()
}

private object LatencySink {

  /** The latencies of the inserted rows. */
  val inserts = new RowLatencies
}

/** A row of the source. */
case class SentRow(k: Int, id: Long, sent: Long)

/** A row that enters a window or leaves it. */
case class SentChange(k: Int, id: Long, sent: Long, enters: Boolean)

/** A `MapState` as a ring: an entry for each row of the window. */
private class SentRing(size: Int) extends StatefulProcessor[Int, SentRow, SentChange] {
  @transient private var next: ValueState[Long] = _
  @transient private var ring: MapState[Int, SentRow] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    next = getHandle.getValueState("next", Encoders.scalaLong, TTLConfig.NONE)
    ring =
      getHandle.getMapState("ring", Encoders.scalaInt, Encoders.product[SentRow], TTLConfig.NONE)
  }

  override def handleInputRows(
      key: Int,
      rows: Iterator[SentRow],
      timers: TimerValues): Iterator[SentChange] = rows.flatMap { row =>
    val number = if (next.exists()) next.get() else 0L
    val slot = (number % size).toInt
    val leaves = if (number >= size) Seq(ring.getValue(slot)) else Nil
    ring.updateValue(slot, row)
    next.update(number + 1)
    SentChange(key, row.id, row.sent, enters = true) +:
      leaves.map(old => SentChange(key, old.id, old.sent, enters = false))
  }
}
