package winops.spark.restart

import java.io.File

import org.apache.commons.io.FileUtils

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.StreamingQueryException

import winops.spark.testing.{KeepStreamTest, Tick}

/** Returns to the former query after a restart with another one, as `docs/restarts.md` says. */
class UndoSuite extends KeepStreamTest {
  import testImplicits._

  private val call = "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS'"

  private def former(df: DataFrame): DataFrame = keep(df, call)

  private def changed(df: DataFrame): DataFrame = keep(
    df.withColumn("more", $"n" * 2),
    s"$call, output => 'agg', aggregates => TABLE(SELECT sum(more) FROM input_of_keep)")

  private def ticksFrom(numbers: Range): Seq[Tick] = numbers.map(n => Tick("a", n.toLong, n))

  test("the former query runs the micro-batch in which a changed query failed") {
    withTempDir { folder =>
      val (checkpoint, stream) = (folder.getCanonicalPath, ticks())
      stream.addData(ticksFrom(0 until 4))
      val _ = runAll(former(stream.toDF()), checkpoint)
      stream.addData(ticksFrom(4 until 6))
      val failing = start(
        changed(stream.toDF()),
        checkpoint,
        new Written,
        (_, _) => throw new IllegalStateException("sink"))
      intercept[StreamingQueryException] {
        try failing.processAllAvailable()
        finally failing.stop()
      }
      assertContinues(checkpoint, runAll(former(stream.toDF()), checkpoint))
    }
  }

  Seq("HDFS" -> KeepStreamTest.hdfs, "RocksDB" -> KeepStreamTest.rocksDb).foreach {
    case (name, provider) =>
      test(s"the former query continues before the micro-batches of a changed query: $name") {
        withSQLConf(provider)(withTempDir { folder =>
          val (checkpoint, source) = (new File(folder, "checkpoint"), s"$folder/source")
          // The source must still have the rows of the removed micro-batches.
          def runWith(query: DataFrame => DataFrame, numbers: Range): Written = {
            if (numbers.nonEmpty) {
              ticksFrom(numbers).toDF().coalesce(1).write.mode("append").parquet(source)
            }
            val rows = spark.readStream.schema("k string, sec long, n int").parquet(source)
            runAll(query(rows), checkpoint.getCanonicalPath)
          }
          val _ = runWith(former, 0 until 4)
          val _ = runWith(changed, 4 until 6)
          val _ = runWith(changed, 6 until 8)
          removeFrom(checkpoint, 1L)
          assertContinues(checkpoint.getPath, runWith(former, 0 until 0), until = 8)
        })
      }
  }

  /** Removes a micro-batch and later ones from a checkpoint. */
  private def removeFrom(checkpoint: File, batch: Long): Unit =
    Seq("offsets", "commits", "state/0/_metadata/v2").foreach { folder =>
      val files = new File(checkpoint, folder).listFiles()
      assert(files != null, folder)
      files
        .filter(_.getName.stripPrefix(".").stripSuffix(".crc").toLongOption.exists(_ >= batch))
        .foreach(FileUtils.forceDelete)
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
