package winops.spark

import org.apache.spark.sql.Row

/** What Spark's own reader of state stores says of the state of a `keep`. */
class StateReaderSuite extends KeepStreamTest {
  import KeepStreamTest._
  import testImplicits._

  Seq("HDFS" -> Seq(hdfs), "RocksDB" -> Seq(rocksDb, changelog)).foreach {
    case (name, settings) =>
      test(
        s"state reader: the change feed tells which groups each batch wrote and forgot, $name") {
        withSQLConf(settings: _*) {
          withTempDir { dir =>
            val checkpoint = dir.getCanonicalPath
            val stream = ticks()
            val kept =
              keep(
                timed(stream),
                "PARTITION BY (k), 'KEEP 10 SECONDS', time => 'ts', " +
                  "apply => 'arrival', idle => '20 seconds'")
            Seq(Seq(Tick("a", 10, 1), Tick("b", 20, 2)), Seq(Tick("b", 60, 3))).foreach { rows =>
              stream.addData(rows)
              runAll(kept, checkpoint)
            }
            val feed = spark.read
              .format("statestore")
              .option("readChangeFeed", "true")
              .option("changeStartBatchId", "0")
              .load(checkpoint)
              .where($"key.k".isNotNull)
              .select($"key.k", $"change_type")
              .distinct()
            assert(
              feed.collect().toSet ==
                Set(Row("a", "update"), Row("a", "delete"), Row("b", "update")))
          }
        }
      }
  }
}
