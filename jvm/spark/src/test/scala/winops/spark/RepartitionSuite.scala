package winops.spark

import java.io.File

import org.apache.commons.io.FileUtils

import org.apache.spark.sql.Row
import org.apache.spark.sql.internal.SQLConf

/** A query that is moved to other numbers of partitions gives what an undisturbed one gives. */
class RepartitionSuite extends ManyKeeps {
  import KeepStreamTest._
  import ManyKeeps._

  private def repartition(from: File, to: File, partitions: Int): Seq[Row] = spark
    .sql(s"SELECT * FROM winops_repartition('$from', '$to', $partitions)")
    .collect()
    .toSeq

  private def summary(from: File, calls: Seq[Call]): Seq[Row] = calls.indices.flatMap { number =>
    spark
      .sql(s"SELECT * FROM winops_state('$from', operator => $number)")
      .drop("_partition")
      .collect()
      .map(_.toString)
      .sorted
      .map(Row(number, _))
  }

  /** All rows that a folder consists of, so that it can be seen to stay as it is. */
  private def files(folder: File): Map[String, Long] = {
    import scala.jdk.CollectionConverters._
    FileUtils
      .listFiles(folder, null, true)
      .asScala
      .map(file => file.getPath -> file.lastModified)
      .toMap
  }

  private def check(calls: Seq[Call]): Unit = withSQLConf(SQLConf.SHUFFLE_PARTITIONS.key -> "4") {
    val all = batches :+ heartbeat(112) :+ heartbeat(100000)
    val whole = ticks()
    val expected = runBatches(manyKeeps(whole, calls), whole)(all: _*).rows
    withTempDir { dir =>
      val stream = ticks()
      val written = new Written
      def folder(name: Int) = new File(dir, name.toString)
      val stages = Seq(all.take(2), all.slice(2, 3), all.slice(3, 5), all.drop(5))
      val partitions = Seq(4, 7, 1, 4)
      stages.zipWithIndex.foreach { case (stage, number) =>
        if (number > 0) {
          val (from, to) = (folder(number - 1), folder(number))
          val before = files(from)
          val moved = repartition(from, to, partitions(number))
          assert(files(from) == before)
          assert(moved.map(_.getLong(0)) == calls.indices.map(_.toLong))
          assert(moved.head.getInt(1) == partitions(number))
          assert(summary(to, calls) == summary(from, calls))
        }
        stage.foreach(batch => stream.addData(batch))
        runAll(manyKeeps(stream, calls), folder(number).getCanonicalPath, written)
      }
      val tell = (rows: Seq[Row]) => rows.map(_.toString).sorted
      assert(tell(written.rows) == tell(expected))
      assert(new File(folder(1), "state/0").list().count(_.forall(_.isDigit)) == 7)
    }
  }

  test("every kind of window: 4 to 7 to 1 to 4")(check(all))

  Seq(
    "RocksDB" -> Seq(rocksDb),
    "RocksDB with changelog" -> Seq(rocksDb, changelog),
    "RocksDB with changelog, checkpoint format 2" -> Seq(rocksDb, changelog, formatTwo)).foreach {
    case (name, settings) =>
      test(s"some windows: $name") {
        withSQLConf(settings: _*)(check(few.take(2)))
      }
  }

  test("what cannot be moved is refused, and nothing is written") {
    withTempDir { dir =>
      val (from, to) = (new File(dir, "from"), new File(dir, "to"))
      def refused(partitions: Int = 3): String =
        intercept[org.apache.spark.sql.AnalysisException](
          repartition(from, to, partitions)).getCondition
      assert(refused() == "WINOPS_CHECKPOINT_NOT_FOUND")
      val stream = ticks()
      stream.addData(batches.head)
      val kept = keep(timed(stream), few(1).arguments)
      runAll(kept.dropDuplicatesWithinWatermark("n"), from.getPath)
      assert(refused() == "WINOPS_CHECKPOINT_OTHER_STATE")
      assert(refused(0) == "WINOPS_ARGUMENT.VALUE")
      assert(!to.exists)
      FileUtils.deleteDirectory(from)
      runAll(kept, from.getPath)
      FileUtils.write(new File(to, "something"), "", "UTF-8")
      assert(refused() == "WINOPS_CHECKPOINT_EXISTS")
      assert(to.list().toSeq == Seq("something"))
    }
  }
}
