package winops.spark.testing

import java.io.File
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._
import scala.reflect.ClassTag

import org.apache.commons.io.FileUtils

import org.apache.spark.{SparkConf, SparkThrowable}
import org.apache.spark.sql.{DataFrame, Encoder, Row}
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager
import org.apache.spark.sql.execution.streaming.runtime.{MemoryStream, StreamExecution, StreamingQueryWrapper}
import org.apache.spark.sql.functions.timestamp_seconds
import org.apache.spark.sql.internal.{SQLConf, StaticSQLConf}
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, StreamingQueryProgress, StreamTest}
import org.apache.spark.sql.winops.testing.InProcessDebugFileSystem

import winops.spark.WinopsExtensions
import winops.testing.Longer

/** A row of the tests' streams; `sec` is its time in seconds since the epoch. */
final case class Tick(k: String, sec: Long, n: Int)

/** Tests with streams of [[Tick]]s through `keep`, by the public API. Spark interprets
  * expressions, except in suites with [[CompiledCode]]; in pytest on classic Spark, most streams
  * compile them.
  */
trait KeepStreamTest extends StreamTest {
  import testImplicits._

  // Spark's test sessions do not load extensions from the class path.
  override protected def sparkConf: SparkConf = super.sparkConf
    .set(StaticSQLConf.SPARK_SESSION_EXTENSIONS.key, classOf[WinopsExtensions].getName)
    .set(SQLConf.SHUFFLE_PARTITIONS.key, "2")
    // Spark stops its state stores while holding a lock that their maintenance may wait for.
    .set(SQLConf.STATE_STORE_MAINTENANCE_SHUTDOWN_TIMEOUT.key, "1s")
    .setAll(CompiledCode.Interpreted)
    .set("spark.hadoop.fs.file.impl", classOf[InProcessDebugFileSystem].getName)
    // The default manager starts processes for every file that it writes.
    .set(
      SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key,
      classOf[FileSystemBasedCheckpointFileManager].getName)

  protected def ticks(): MemoryStream[Tick] = memoryStream[Tick]

  // The patch releases of Spark 4.1 have different methods for this.
  protected def memoryStream[A: Encoder]: MemoryStream[A] =
    new MemoryStream[A](streams.getAndIncrement(), spark)

  private val streams = new AtomicInteger

  /** The stream with the columns `k`, `n` and `ts`, and with a watermark without delay. */
  protected def timed(stream: MemoryStream[Tick]): DataFrame =
    withTime(stream.toDF()).withWatermark("ts", "0 seconds")

  protected def withTime(df: DataFrame): DataFrame =
    df.select($"k", timestamp_seconds($"sec").as("ts"), $"n")

  /** Applies `keep` to `df`; `arguments` is the SQL after TABLE(...). */
  protected def keep(df: DataFrame, arguments: String): DataFrame = {
    df.createOrReplaceTempView("input_of_keep")
    spark.sql(s"SELECT * FROM keep(TABLE(input_of_keep) $arguments)")
  }

  /** The rows that a query's sink received, batch by batch. */
  protected final class Written {
    private val batches = new ConcurrentLinkedQueue[(Long, Seq[Row])]

    def add(id: Long, rows: Seq[Row]): Unit = batches.add(id -> rows)
    def batch(id: Long): Seq[Row] = batches.asScala.filter(_._1 == id).flatMap(_._2).toSeq
    def rows: Seq[Row] = batches.asScala.flatMap(_._2).toSeq
    def batchCount: Int = batches.size
  }

  /** Starts a query into `written`; its sink first executes `before`. */
  protected def start(
      df: DataFrame,
      checkpoint: String,
      written: Written,
      before: (DataFrame, Long) => Unit = (_, _) => ()): StreamingQuery = {
    val write = (batch: DataFrame, id: Long) => {
      before(batch, id)
      written.add(id, batch.collect().toSeq)
    }
    df.writeStream.option("checkpointLocation", checkpoint).foreachBatch(write).start()
  }

  /** Runs a micro-batch of a query whose sink fails when the tasks have stored their state. */
  protected def failAtSink(df: DataFrame, checkpoint: String): Unit = {
    val fail = (batch: DataFrame, _: Long) => {
      val _ = batch.collect()
      throw new IllegalStateException(KeepStreamTest.SinkFails)
    }
    val query = start(df, checkpoint, new Written, fail)
    val error = intercept[StreamingQueryException] {
      try query.processAllAvailable()
      finally query.stop()
    }
    assert(error.getMessage.contains(KeepStreamTest.SinkFails))
  }

  /** Runs a query over the available rows and all timers that are due by then, and stops it. */
  protected def runAll(
      df: DataFrame,
      checkpoint: String,
      written: Written = new Written): Written = {
    val query = start(df, checkpoint, written)
    try query.processAllAvailable()
    finally query.stop()
    written
  }

  /** Registers a test for each store. `make test` runs the stores with the setting `short`; HDFS,
    * Spark's default, is the store of the tests without a name of one.
    */
  protected def testStores(name: String, short: (String, String) = KeepStreamTest.formatTwo)(
      check: => Unit): Unit =
    KeepStreamTest.stores.foreach { case (store, settings) =>
      val tags = Longer.unless(settings.contains(short))
      test(s"$name: $store", tags: _*)(withSQLConf(settings: _*)(check))
    }

  /** Runs a query over batches that arrive one after another, the first before the query starts.
    */
  protected def runEach[A](
      df: DataFrame,
      stream: MemoryStream[A],
      batches: Seq[Seq[A]],
      checkpoint: String,
      written: Written = new Written): Written = {
    stream.addData(batches.head)
    val query = start(df, checkpoint, written)
    try {
      query.processAllAvailable()
      batches.tail.foreach { batch =>
        stream.addData(batch)
        query.processAllAvailable()
      }
    } finally query.stop()
    written
  }

  /** The output of a new query over `df` for batches that arrive one after another. */
  protected def runBatches(df: DataFrame, stream: MemoryStream[Tick])(
      batches: Seq[Tick]*): Written = inTempDir(runEach(df, stream, batches, _))

  /** The plan of a restart: a row for the state of each operator, then one for each difference.
    */
  protected def restartPlanOf(df: DataFrame, checkpoint: String): Seq[Row] = {
    df.createOrReplaceTempView("restarted")
    spark
      .sql(s"SELECT * FROM winops_restart_plan(TABLE(restarted), '$checkpoint')")
      .collect()
      .toSeq
  }

  /** The value of `body`, which is given the path of a folder that is removed afterwards. */
  protected def inTempDir[A](body: String => A): A = {
    var result: Option[A] = None
    withTempDir(folder => result = Some(body(folder.getCanonicalPath)))
    result.get
  }

  protected def execution(query: StreamingQuery): StreamExecution =
    query.asInstanceOf[StreamingQueryWrapper].streamingQuery

  /** The progress of the batches that ran. */
  protected def progressOf(query: StreamingQuery): Seq[StreamingQueryProgress] =
    query.recentProgress.toSeq.groupBy(_.batchId).toSeq.sortBy(_._1).map(_._2.last)

  /** The first of an error's causes that has a type and satisfies a condition. */
  protected def causeOf[E <: Throwable: ClassTag](error: Throwable): Option[E] =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).collectFirst { case e: E => e }

  /** The error conditions in an error's causes. */
  protected def conditionsOf(error: Throwable): Seq[String] =
    Iterator
      .iterate(error)(_.getCause)
      .takeWhile(_ != null)
      .collect { case e: SparkThrowable => e.getCondition }
      .filter(_ != null)
      .toSeq

  protected def failureOf(df: DataFrame, checkpoint: String): StreamingQueryException =
    intercept[StreamingQueryException](runAll(df, checkpoint))
}

object KeepStreamTest {
  private val SinkFails = "the sink fails"
  private val provider = SQLConf.STATE_STORE_PROVIDER_CLASS.key
  private val folder = "org.apache.spark.sql.execution.streaming.state"

  // Settings of the state store. The HDFS-backed store, Spark's default, starts fastest.
  val hdfs: (String, String) = provider -> s"$folder.HDFSBackedStateStoreProvider"
  val rocksDb: (String, String) = provider -> s"$folder.RocksDBStateStoreProvider"

  val changelog: (String, String) =
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled" -> "true"

  val formatTwo: (String, String) = SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> "2"

  /** The settings of each store, by its name. */
  val stores: Seq[(String, Seq[(String, String)])] = Seq(
    "HDFS" -> Seq(hdfs),
    "RocksDB" -> Seq(rocksDb),
    "RocksDB with changelog" -> Seq(rocksDb, changelog),
    "RocksDB with format 2" -> Seq(rocksDb, formatTwo))

  /** Copies the checkpoint of a query that does not run, without the temporary files that Spark
    * still writes and renames when it maintains the state.
    */
  def copyCheckpoint(from: File, to: File): Unit =
    FileUtils.copyDirectory(from, to, (file: File) => !file.getName.contains(".tmp"))
}
