package winops.spark

import scala.util.Random

import org.apache.spark.sql.Row

/** A query that is stopped after every batch gives what an uninterrupted one gives. */
class RestartSuite extends KeepStreamTest {
  import KeepStreamTest._

  private val random = new Random(11)

  private val batches: Seq[Seq[Tick]] = (0 until 5).map { batch =>
    (0 until 60).map { i =>
      val n = batch * 60 + i
      Tick(s"${random.nextInt(5)}", 100L + batch * 10 + random.nextInt(12), n)
    }
  }

  private val heartbeat = Seq(Tick("z", 10000, -1))

  private def byGroup(rows: Seq[Row]): Map[String, Seq[Row]] =
    rows.groupBy(_.getAs[String]("k"))

  private def check(arguments: String): Unit = {
    val whole = ticks()
    val expected =
      runBatches(keep(timed(whole), arguments), whole)(batches :+ heartbeat: _*).rows
    val cut = ticks()
    val written = new Written
    withTempDir { dir =>
      (batches :+ heartbeat).foreach { batch =>
        cut.addData(batch)
        runAll(keep(timed(cut), arguments), dir.getCanonicalPath, written)
      }
    }
    assert(expected.size > 300)
    assert(byGroup(written.rows) == byGroup(expected))
  }

  private val inTime = "PARTITION BY (k) ORDER BY (n), 'KEEP 8 SECONDS', time => 'ts'"

  Seq(
    "HDFS" -> Seq(hdfs),
    "RocksDB" -> Seq(rocksDb),
    "RocksDB with changelog" -> Seq(rocksDb, changelog),
    "RocksDB with changelog, checkpoint format 2" -> Seq(rocksDb, changelog, formatTwo)).foreach {
    case (name, settings) =>
      test(s"rows that wait, and deadlines: $name") {
        withSQLConf(settings: _*)(check(inTime))
      }
  }

  test("rows as they arrive, silent groups") {
    check(
      "PARTITION BY (k) ORDER BY (n), 'KEEP 20 ROWS SLACK 7', time => 'ts', " +
        "apply => 'arrival', idle => '3 seconds'")
  }

  test("one window for all rows, in checkpoint format 2 too") {
    check("WITH SINGLE PARTITION ORDER BY (n), 'KEEP EVERY 50 ROWS', time => 'ts'")
    withSQLConf(rocksDb, changelog, formatTwo) {
      check("WITH SINGLE PARTITION ORDER BY (n), 'KEEP 30 ROWS', time => 'ts'")
    }
  }

  test("intervals that count from a group's first row") {
    check(
      "PARTITION BY (k) ORDER BY (n), 'KEEP EVERY 7 SECONDS', time => 'ts', origin => 'first'")
  }
}
