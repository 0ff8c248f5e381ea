package winops.spark.state

import scala.collection.mutable

import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.struct

import winops.spark.testing.{KeepStreamTest, Tick}

/** The state of a `keep` in Spark's own state store reader. */
class StateReaderSuite extends KeepStreamTest {
  import KeepStreamTest._
  import testImplicits._

  private val entry = struct($"partition_id", $"key.*").as("entry")

  Seq("HDFS" -> Seq(hdfs), "RocksDB" -> Seq(rocksDb, changelog)).foreach {
    case (name, settings) =>
      test(
        s"state reader: the change feed contains all that each batch wrote and removed, $name") {
        withSQLConf(settings: _*) {
          withTempDir { dir =>
            val checkpoint = dir.getCanonicalPath
            val stream = ticks()
            val kept =
              keep(
                timed(stream),
                "PARTITION BY (k), 'KEEP 10 SECONDS', time => 'ts', " +
                  "apply => 'arrival', idle => '20 seconds'")
            val many = (1 to 600).map(Tick("a", 10, _))
            Seq(many :+ Tick("b", 20, 601), Seq(Tick("b", 60, 602))).foreach { rows =>
              stream.addData(rows)
              runAll(kept, checkpoint)
            }
            val feed = spark.read
              .format("statestore")
              .option("readChangeFeed", "true")
              .option("changeStartBatchId", "0")
              .load(checkpoint)
              .select($"batch_id", $"change_type", entry, $"value.content")
              .collect()
            def content(entry: Row) = entry.getAs[Array[Byte]]("content").toSeq
            val replayed = mutable.Map.empty[Row, Seq[Byte]]
            feed.sortBy(_.getLong(0)).foreach { change =>
              val key = change.getStruct(2)
              if (change.getString(1) == "delete") replayed -= key
              else replayed(key) = content(change)
            }
            val state =
              spark.read.format("statestore").load(checkpoint).select(entry, $"value.content")
            val stored = state.collect().map(found => found.getStruct(0) -> content(found))
            assert(replayed == stored.toMap)
            assert(feed.map(_.getString(1)).toSet == Set("update", "delete"))
          }
        }
      }
  }
}
