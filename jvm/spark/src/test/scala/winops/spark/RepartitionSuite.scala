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

  /** The files of a folder, so that it can be seen to stay as it is. */
  private def files(folder: File): Map[String, Long] = {
    import scala.jdk.CollectionConverters._
    FileUtils
      .listFiles(folder, null, true)
      .asScala
      .map(file => file.getPath -> file.lastModified)
      .toMap
  }

  /** Runs the batches, one after the other, in queries of these numbers of partitions. */
  private def check(calls: Seq[Call], partitions: Int*): Unit =
    withSQLConf(SQLConf.SHUFFLE_PARTITIONS.key -> partitions.head.toString) {
      val all = batches :+ heartbeat(119) :+ heartbeat(100000)
      val whole = ticks()
      val expected = runBatches(manyKeeps(whole, calls), whole)(all: _*).rows
      withTempDir { dir =>
        val stream = ticks()
        val written = new Written
        def folder(number: Int) = new File(dir, number.toString)
        all.zipWithIndex.foreach { case (batch, number) =>
          partitions.lift(number).filter(_ => number > 0).foreach { count =>
            val (from, to) = (folder(number - 1), folder(number))
            val before = files(from)
            val moved = repartition(from, to, count)
            assert(files(from) == before)
            assert(moved.map(_.getLong(0)) == calls.indices.map(_.toLong))
            assert(moved.head.getInt(1) == count)
            assert(new File(to, "state/0").list().count(_.forall(_.isDigit)) == count)
            if (number == 1) assert(summary(to, calls) == summary(from, calls))
          }
          stream.addData(batch)
          runAll(
            manyKeeps(stream, calls),
            folder(Math.min(number, partitions.size - 1)).getCanonicalPath,
            written)
        }
        val tell = (rows: Seq[Row]) => rows.map(_.toString).sorted
        assert(tell(written.rows) == tell(expected))
      }
    }

  test("groups by themselves, groups that depend on each other, and none: 3, 5 and 1") {
    check(moved, 3, 5, 1)
  }

  Seq(
    "RocksDB" -> Seq(rocksDb),
    "RocksDB with changelog, checkpoint format 2" -> Seq(rocksDb, changelog, formatTwo)).foreach {
    case (name, settings) =>
      test(s"deadlines of silent groups: $name") {
        withSQLConf(settings: _*)(check(few.slice(1, 2), 2, 3, 1))
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
