package winops.spark.testing

import java.io.FileOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.sql.Timestamp
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}

import scala.jdk.CollectionConverters._

import org.apache.commons.io.FileUtils
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, ForeachWriter, Row, SparkSession}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

import winops.testing.FollowedFiles

/** Queries in real-time mode over lines that tests append to files. Spark's test classes are not
  * on Maven for each version that has this mode, so these tests do without them.
  */
trait RealTimeTest extends AnyFunSuite with BeforeAndAfterAll {
  import RealTimeTest._

  protected lazy val spark: SparkSession = SparkSession
    .builder()
    // Two tasks that read files and two of each window, one over another, run at the same time.
    .master("local[6]")
    .appName(getClass.getSimpleName)
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.shuffle.streaming.networkBufferMaxWaitTimeMs", "1")
    .config("spark.sql.streaming.realTimeMode.allowlistCheck", "false")
    .config("spark.sql.streaming.realTimeMode.minBatchDuration", "1000")
    .config(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key, "2")
    .config(
      SQLConf.STATE_STORE_PROVIDER_CLASS.key,
      "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider")
    .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
    .getOrCreate()

  override def afterAll(): Unit =
    try spark.stop()
    finally super.afterAll()

  /** A stream of rows, each group in one of the partitions. */
  protected final class Input(folder: Path, parts: Int = 2) {
    private val files = Files.createDirectories(folder.resolve("input")).toString
    (0 until parts).foreach(part => FollowedFiles.file(files, part).createNewFile())

    def add(rows: Seq[Event]): Unit =
      rows.groupBy(row => Math.floorMod(row.k, parts)).foreach { case (part, own) =>
        val out = new FileOutputStream(FollowedFiles.file(files, part), true)
        try out.write(own.map(row => s"${row.k},${row.id}\n").mkString.getBytes(UTF_8))
        finally out.close()
      }

    /** The columns `k` and `id`. */
    def rows: DataFrame = spark.readStream
      .format(classOf[FollowedFiles].getName)
      .option("path", files)
      .option("partitions", parts.toString)
      .load()
      .selectExpr(
        "CAST(split(value, ',')[0] AS INT) AS k",
        "CAST(split(value, ',')[1] AS BIGINT) AS id")
  }

  /** Arguments of `keep` that real-time mode runs without a clock. */
  protected val windows: Seq[String] = Seq(
    "'KEEP 3 ROWS'",
    "'KEEP 4 ROWS SLACK 2'",
    "'KEEP EVERY 3 ROWS'",
    "'KEEP 1 ROW'",
    "esper => '#length(3)'",
    "esper => '#length_batch(4)'",
    "esper => '#firstlength(2)'",
    "esper => '#unique(id5)'",
    "esper => '#rank(id5, 2, id desc)'",
    "esper => '#sort(2, id desc)'",
    "esper => '#expr(current_count <= 3)'",
    "apama => 'retain 3'",
    "spl => 'sliding, count(3), partitioned'",
    "spl => 'tumbling, count(4), partitioned'",
    "spl => 'sliding, delta(id, 20), partitioned'",
    "'KEEP 3 ROWS', key => ARRAY('id5'), op => 'op'",
    "'KEEP 2 ROWS', key => ARRAY('id5'), op => 'op', buffer => 2",
    "esper => '#sort(2, id desc)', key => ARRAY('id5'), op => 'op'")

  /** Applies `keep` to `df` with two more columns, a primary key `id5` and an operation `op`.
    * `arguments` is the SQL after TABLE(...).
    */
  protected def keep(df: DataFrame, arguments: String): DataFrame = {
    df.selectExpr("*", "id % 5 AS id5", "IF(id % 7 = 6, 'delete', 'upsert') AS op")
      .createOrReplaceTempView("input_of_keep")
    spark.sql(s"SELECT * FROM keep(TABLE(input_of_keep) $arguments)")
  }

  /** The changes of a table with these rows. */
  protected def changesOfTable(rows: Seq[Event], arguments: String): Seq[Seen] =
    changesOfTable(rows)(keep(_, arguments))

  /** The changes that a query gives for a table with these rows. */
  protected def changesOfTable(rows: Seq[Event])(query: DataFrame => DataFrame): Seq[Seen] = {
    val table = spark.createDataFrame(rows.map(row => (row.k, row.id))).toDF("k", "id")
    query(table).collect().toSeq.map(seen)
  }

  /** Starts a query whose output is [[received]] under `name`. */
  protected def start(
      df: DataFrame,
      folder: Path,
      name: String,
      batch: Option[String]): StreamingQuery = {
    val writer = df.writeStream
      .foreach(new Receiver(name))
      .option("checkpointLocation", folder.resolve("checkpoint").toString)
    batch match {
      case Some(length) =>
        writer.outputMode("update").trigger(Trigger.RealTime(length)).start()
      case None => writer.outputMode("append").start()
    }
  }

  /** The rows that sinks with this name have received, in their order. */
  protected def received(name: String): Seq[Seen] = rowsOf(name).asScala.toSeq

  /** Waits until a condition holds, and fails if the query does or if a minute passes. */
  protected def waitUntil(query: StreamingQuery)(condition: => Boolean): Unit = {
    val until = System.nanoTime + LongestWaitNanos
    while (!condition) {
      query.exception.foreach(throw _)
      assert(System.nanoTime < until, s"after a minute: ${query.status}")
      Thread.sleep(5)
    }
  }

  /** The changes of each group in the order of their numbers. A repeated change counts once, and
    * must be the same one.
    *
    * @param window
    *   the arguments of `keep`: `#unique` numbers the changes of each key by themselves
    */
  protected def byGroup(
      seen: Seq[Seen],
      window: String): Map[(Int, Long), Seq[(Long, String, Long)]] =
    seen.groupBy(one => (one.k, if (window.contains("#unique")) one.id % 5 else 0L)).map {
      case (group, own) =>
        val changes = own.map(one => (one.seq, one.kind, one.id)).distinct.sorted
        assert(changes.map(_._1).distinct.size == changes.size, s"group $group repeats a number")
        group -> changes
    }

  /** The value of `body`, which is given a folder that is removed afterwards. */
  protected def inTempDir[A](body: Path => A): A = {
    val folder = Files.createTempDirectory("real-time")
    try body(folder)
    finally FileUtils.deleteQuietly(folder.toFile)
  }
}

object RealTimeTest {
  private val LongestWaitNanos = 60000000000L

  /** A row of the stream. */
  final case class Event(k: Int, id: Long)

  /** A change in the output.
    *
    * @param at
    *   the time at which the sink has received it, in milliseconds
    * @param time
    *   its `_change_time` in milliseconds
    */
  final case class Seen(at: Long, k: Int, seq: Long, kind: String, id: Long, time: Long)

  private val outputs = new ConcurrentHashMap[String, ConcurrentLinkedQueue[Seen]]

  private def rowsOf(name: String): ConcurrentLinkedQueue[Seen] =
    outputs.computeIfAbsent(name, _ => new ConcurrentLinkedQueue[Seen])

  private def seen(row: Row): Seen = Seen(
    System.currentTimeMillis,
    row.getAs[Int]("k"),
    row.getAs[Long]("_change_seq"),
    row.getAs[String]("_change_type"),
    row.getAs[Long]("id"),
    Option(row.getAs[Timestamp]("_change_time")).fold(0L)(_.getTime))

  /** The names of outputs whose sinks fail with the next row. */
  val failing: java.util.Set[String] = ConcurrentHashMap.newKeySet[String]

  final class Receiver(name: String) extends ForeachWriter[Row] {
    override def open(partition: Long, epoch: Long): Boolean = true

    override def process(row: Row): Unit = {
      if (failing.remove(name)) throw new IllegalStateException("the sink fails")
      val _ = rowsOf(name).add(seen(row))
    }

    override def close(error: Throwable): Unit = ()
  }
}
