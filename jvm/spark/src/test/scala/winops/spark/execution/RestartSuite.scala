package winops.spark.execution

import org.apache.spark.SparkConf
import org.apache.spark.sql.functions.{concat, lit}
import org.apache.spark.sql.internal.SQLConf

import winops.spark.testing.{Interruptions, KeepStreamTest}
import winops.testing.TableTests

/** A query that is stopped after every batch emits the same rows as an uninterrupted one, while
  * stores are maintained all the time.
  */
class RestartSuite extends Interruptions with TableTests {
  import KeepStreamTest._
  import testImplicits._

  override protected def sparkConf: SparkConf = super.sparkConf
    .set(SQLConf.STREAMING_MAINTENANCE_INTERVAL.key, "10")
    .set(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.key, "1")
    .set(SQLConf.MIN_BATCHES_TO_RETAIN.key, "2")

  /** Checks several windows in one query. */
  private def check(windows: String*): Unit = {
    def name(i: Int) = s" in window $i"
    val changes = checkInterrupted { rows =>
      windows.zipWithIndex
        .map { case (arguments, i) =>
          keep(rows, arguments).withColumn("k", concat($"k", lit(name(i))))
        }
        .reduce(_.union(_))
    }
    windows.indices.foreach { i =>
      assert(changes.count(_.getAs[String]("k").endsWith(name(i))) > 300, windows(i))
    }
  }

  testEach(
    "maintained stores, rows that wait, and deadlines, of groups and of all rows",
    short = 1)(
    "RocksDB with changelog, checkpoint format 2" -> Seq(rocksDb, changelog, formatTwo),
    "HDFS" -> Seq(hdfs),
    "RocksDB" -> Seq(rocksDb),
    "RocksDB with changelog" -> Seq(rocksDb, changelog)) { case (_, settings) =>
    withSQLConf(settings: _*) {
      check(
        "PARTITION BY (k) ORDER BY (n), 'KEEP 8 SECONDS', time => 'ts'",
        "WITH SINGLE PARTITION ORDER BY (n), 'KEEP 30 ROWS', time => 'ts'")
    }
  }

  test("rows as they arrive, silent groups, and intervals") {
    check(
      "PARTITION BY (k) ORDER BY (n), 'KEEP 20 ROWS SLACK 7', time => 'ts', " +
        "apply => 'arrival', idle => '3 seconds'",
      "WITH SINGLE PARTITION ORDER BY (n), 'KEEP EVERY 50 ROWS', time => 'ts'",
      // Intervals that count from a group's first row.
      "PARTITION BY (k) ORDER BY (n), 'KEEP EVERY 7 SECONDS', time => 'ts', origin => 'first'")
  }
}
