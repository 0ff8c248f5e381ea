package winops.spark.execution

import org.apache.spark.SparkConf
import org.apache.spark.sql.internal.SQLConf

import winops.spark.testing.{Interruptions, KeepStreamTest}
import winops.testing.Longer

/** A query that is stopped after every batch emits the same rows as an uninterrupted one, while
  * stores are maintained all the time.
  */
class RestartSuite extends Interruptions {
  import KeepStreamTest._

  override protected def sparkConf: SparkConf = super.sparkConf
    .set(SQLConf.STREAMING_MAINTENANCE_INTERVAL.key, "10")
    .set(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.key, "1")
    .set(SQLConf.MIN_BATCHES_TO_RETAIN.key, "2")

  private def check(arguments: String): Unit =
    assert(checkInterrupted(arguments).size > 300)

  private val inTime = "PARTITION BY (k) ORDER BY (n), 'KEEP 8 SECONDS', time => 'ts'"

  Seq(
    "HDFS" -> Seq(hdfs),
    "RocksDB" -> Seq(rocksDb),
    "RocksDB with changelog" -> Seq(rocksDb, changelog),
    "RocksDB with changelog, checkpoint format 2" -> Seq(
      rocksDb,
      changelog,
      formatTwo)).zipWithIndex
    .foreach { case ((name, settings), i) =>
      test(
        s"maintained stores, rows that wait, and deadlines: $name",
        Longer.unless(i % 2 == 0): _*) {
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
