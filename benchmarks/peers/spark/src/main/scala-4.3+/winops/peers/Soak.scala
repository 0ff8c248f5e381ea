package winops.peers

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.{ForeachWriter, Row, SparkSession}
import org.apache.spark.sql.streaming.{StreamingQueryListener, Trigger}
import org.apache.spark.sql.streaming.StreamingQueryListener._

/** Runs windows in real-time mode for minutes or hours, and prints a line after each batch: what
  * must not grow.
  *
  * Arguments: rows per second, minutes, seconds of a batch, rows of a window, and the number of
  * keys.
  */
object Soak {
  private val Topic = "soak"

  def main(arguments: Array[String]): Unit = {
    val Array(rate, minutes, seconds, window, keys) = arguments.map(_.toInt): @unchecked
    val spark = SparkSession.builder().appName(Topic).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    val checkpoint = Files.createTempDirectory(Topic)
    try {
      val parts = MemoryTopic.create(Topic, 2)
      spark.streams.addListener(new SoakListener(checkpoint))
      val query = Latency
        .kept(MemoryTopic.stream(spark, Topic), window)
        .writeStream
        .foreach(new NoSink)
        .option("checkpointLocation", checkpoint.toString)
        .outputMode("update")
        .trigger(Trigger.RealTime(s"$seconds seconds"))
        .start()
      try {
        val feed =
          new SteadyFeed(rate, keys, (key, number) => parts(key % parts.length).add(key, number))
        val _ = feed.run(60 * minutes)
        query.exception.foreach(throw _)
      } finally query.stop()
    } finally spark.stop()
  }
}

private final class NoSink extends ForeachWriter[Row] {
  override def open(partition: Long, epoch: Long): Boolean = true
  override def process(row: Row): Unit = ()
  override def close(error: Throwable): Unit = ()
}

/** Prints a line of each batch. */
private final class SoakListener(checkpoint: Path) extends StreamingQueryListener {
  override def onQueryStarted(event: QueryStartedEvent): Unit = ()
  override def onQueryTerminated(event: QueryTerminatedEvent): Unit = ()

  override def onQueryProgress(event: QueryProgressEvent): Unit = {
    val metrics = event.progress.stateOperators.head.customMetrics.asScala
    val memory = ManagementFactory.getMemoryMXBean
    memory.gc()
    val fields = Seq(
      "batch" -> event.progress.batchId,
      "rows" -> event.progress.numInputRows,
      "heap_bytes" -> memory.getHeapMemoryUsage.getUsed,
      "state_bytes_written" -> metrics("stateBytesWritten"),
      "state_bytes_read" -> metrics("stateBytesRead"),
      "checkpoint_bytes" -> bytesOf(checkpoint),
      "p50_micros" -> metrics("rowLatencyMicrosP50"),
      "p99_micros" -> metrics("rowLatencyMicrosP99"))
    println(fields.map { case (name, value) => s"$name=$value" }.mkString(" "))
  }

  private def bytesOf(folder: Path): Long = Using.resource(Files.walk(folder)) { files =>
    files.iterator.asScala.map(_.toFile).filter(_.isFile).map(_.length).sum
  }
}
