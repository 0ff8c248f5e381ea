package winops.spark.restart

import java.io.File

import org.apache.commons.io.FileUtils

import org.apache.spark.SparkConf
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.internal.SQLConf

import winops.readState
import winops.spark.testing.{KeepStreamTest, Tick}
import winops.testing.Longer

/** Returns to the former query after a restart with another one, as `docs/restarts.md` says. */
class UndoSuite extends KeepStreamTest {
  import KeepStreamTest._
  import testImplicits._

  override protected def sparkConf: SparkConf = super.sparkConf
    // Each task maintains its state; in the background, Spark would do so when a query has ended.
    .set(SQLConf.STATE_STORE_UNLOAD_ON_COMMIT.key, "true")
    .set(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.key, "1")

  /** The name of a file with a version of the state. */
  private val Version = "(\\d+)\\.(\\w+)".r

  private val call = "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS'"

  private def former(df: DataFrame): DataFrame = keep(df, call)

  private def changed(df: DataFrame): DataFrame = keep(
    df.withColumn("more", $"n" * 2),
    s"$call, output => 'agg', aggregates => TABLE(SELECT sum(more) FROM input_of_keep)")

  private def ticksFrom(numbers: Range): Seq[Tick] = numbers.map(n => Tick("a", n.toLong, n))

  testStores("the former query runs the micro-batch in which a changed query failed") {
    withTempDir { folder =>
      val (checkpoint, stream) = (folder.getCanonicalPath, ticks())
      stream.addData(ticksFrom(0 until 4))
      val _ = runAll(former(stream.toDF()), checkpoint)
      stream.addData(ticksFrom(4 until 6))
      failAtSink(changed(stream.toDF()), checkpoint)
      assertContinues(checkpoint, runAll(former(stream.toDF()), checkpoint))
    }
  }

  testStores("a query whose first micro-batch failed is no former query") {
    withTempDir { folder =>
      val (checkpoint, stream) = (folder.getCanonicalPath, ticks())
      val rows = stream.toDF()
      stream.addData(ticksFrom(0 until 4))
      failAtSink(keep(rows.select($"k", $"sec", $"n", $"sec".as("more")), call), checkpoint)
      val written = runAll(keep(rows.select($"k", $"n"), call), checkpoint)
      assert(written.rows.map(_.getAs[Int]("n")) == Seq(0, 1, 2, 0, 3, 1))
      assert(
        readState(spark, checkpoint).select($"k", $"n").as[(String, Int)].collect().toSet ==
          Set("a" -> 2, "a" -> 3))
    }
  }

  // With version 2 of the checkpoint format, no snapshot of the failed start can be read.
  testStores("rows enter another window after a start with it has failed", short = hdfs) {
    withTempDir { folder =>
      val (checkpoint, stream) = (folder.getCanonicalPath, ticks())
      val restart = "on_change => 'carry'"
      def first(df: DataFrame): DataFrame =
        keep(df, s"PARTITION BY (k) ORDER BY (n), 'KEEP 3 ROWS', $restart")
      def second(df: DataFrame): DataFrame =
        keep(df, s"PARTITION BY (k) ORDER BY (n), esper => '#firstlength(2)', $restart")
      def held: Seq[Int] = readState(spark, checkpoint).select("n").as[Int].collect().toSeq.sorted
      stream.addData(ticksFrom(0 until 4))
      val _ = runAll(first(stream.toDF()), checkpoint)
      stream.addData(ticksFrom(4 until 5))
      failAtSink(second(stream.toDF()), checkpoint)
      assert(held == Seq(1, 2, 3))
      val former = runAll(first(stream.toDF()), checkpoint)
      assert(former.rows.map(_.getAs[Int]("n")) == Seq(4, 1))
      assert(held == Seq(2, 3, 4))
      stream.addData(ticksFrom(5 until 6))
      val written = runAll(second(stream.toDF()), checkpoint)
      assert(written.rows.map(_.getAs[Int]("n")) == Seq(4))
      assert(held == Seq(2, 3))
    }
  }

  // Files of version 2 of the checkpoint format have unique names.
  stores.filterNot(_._2.contains(formatTwo)).foreach { case (name, settings) =>
    test(
      s"the former query continues before the micro-batches of a changed query: $name",
      Longer.unless(name != "RocksDB"): _*) {
      withSQLConf(settings: _*)(withTempDir { folder =>
        val checkpoint = new File(folder, "checkpoint")
        val source = s"$folder/source"
        // The source must still have the rows of the removed micro-batches.
        def runWith(query: DataFrame => DataFrame, numbers: Range, written: Written = new Written)
            : Written = {
          if (numbers.nonEmpty) {
            ticksFrom(numbers).toDF().coalesce(1).write.mode("append").parquet(source)
          }
          val rows = spark.readStream
            .option("maxFilesPerTrigger", 1)
            .schema("k string, sec long, n int")
            .parquet(source)
          runAll(query(rows), checkpoint.getCanonicalPath, written)
        }
        val _ = runWith(former, 0 until 4)
        (4 until 8).foreach(n => runWith(changed, n until n + 1))
        assert(snapshots(checkpoint).exists(_ > 2L))
        removeFrom(checkpoint, 1L)
        val written = runWith(former, 0 until 0)
        runWith(former, 8 until 9, written)
        assertContinues(checkpoint.getPath, written, until = 9)
      })
    }
  }

  /** The versions of the state that are stored whole. */
  private def snapshots(checkpoint: File): Seq[Long] =
    partitions(checkpoint).flatMap(_.listFiles()).map(_.getName).collect {
      case Version(version, "snapshot" | "zip") => version.toLong
    }

  private def partitions(checkpoint: File): Seq[File] =
    (0 until 2).map(partition => new File(checkpoint, s"state/0/$partition"))

  /** Removes a micro-batch and later ones from a checkpoint. */
  private def removeFrom(checkpoint: File, batch: Long): Unit = {
    def remove(folder: File, isRemoved: String => Boolean): Unit = {
      val files = folder.listFiles()
      assert(files != null, folder)
      files
        .filter(file => isRemoved(file.getName.stripPrefix(".").stripSuffix(".crc")))
        .foreach(FileUtils.forceDelete)
    }
    Seq("offsets", "commits", "state/0/_metadata/v2").foreach { folder =>
      remove(new File(checkpoint, folder), _.toLongOption.exists(_ >= batch))
    }
    partitions(checkpoint).foreach { folder =>
      remove(
        folder,
        {
          case Version(version, _) => version.toLong > batch
          case _ => false
        })
    }
  }

  private def assertContinues(checkpoint: String, written: Written, until: Int = 6): Unit = {
    val changes = written.rows.map { row =>
      (row.getAs[Long]("_change_seq"), row.getAs[String]("_change_type"), row.getAs[Int]("n"))
    }
    val expected = (4 until until).flatMap { n =>
      Seq((2L * n - 2, "insert", n), (2L * n - 1, "delete", n - 2))
    }
    assert(changes.sortBy(_._1) == expected, checkpoint)
  }
}
