package winops.spark.execution

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreSaveExec
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.winops.execution.StatefulKeepExec

import winops.spark.testing.{KeepStreamTest, OneTask, Tick}
import winops.testing.Longer

/** Stateful operators of Spark before and after `keep`. */
class ChainsSuite extends KeepStreamTest with OneTask {
  import testImplicits._

  // Spark treats a row at the first watermark, which is 0, as late.
  private val seconds = (1 to 12).map(i => Tick("ab".charAt(i % 2).toString, i.toLong, i))
  private val heartbeats = Seq(Seq(Tick("z", 100, 100)), Seq(Tick("z", 200, 200)))
  private val batches = seconds.grouped(6).toSeq ++ heartbeats

  private def keptInTime(stream: MemoryStream[Tick]): DataFrame =
    keep(timed(stream), "PARTITION BY (k), 'KEEP 2 ROWS', time => 'ts'")

  test("an aggregation by the same keys right before, on RocksDB") {
    val stream = ticks()
    val counts = timed(stream).groupBy(window($"ts", "4 seconds"), $"k").count()
    val kept = keep(counts, "PARTITION BY (window, k) ORDER BY (count), 'KEEP 1 ROW'")
    val written = new Written
    withSQLConf(KeepStreamTest.rocksDb, SQLConf.SHUFFLE_PARTITIONS.key -> "2") {
      withTempDir { dir =>
        val query = start(kept, dir.getCanonicalPath, written)
        try {
          batches.foreach { batch =>
            stream.addData(batch)
            query.processAllAvailable()
          }
          val operator = execution(query).lastExecution.executedPlan.collectFirst {
            case keep: StatefulKeepExec => keep
          }.get
          assert(noShuffleAboveAggregate(operator))
        } finally query.stop()
      }
    }
    assert(written.rows.map(_.getAs[String]("_change_type")).toSet == Set("insert"))
    assert(written.rows.map(_.getAs[Long]("count")).sum == 13)
  }

  test("a windowed aggregation after it") {
    val stream = ticks()
    val counts = keptInTime(stream)
      .groupBy(window($"_change_time", "4 seconds"), $"_change_type")
      .count()
      .select(unix_seconds($"window.start"), $"_change_type", $"count")
    val written = runBatches(counts, stream)(batches: _*)
    assert(
      written.rows.toSet == Set(
        Row(0, "insert", 3),
        Row(4, "insert", 4),
        Row(4, "delete", 3),
        Row(8, "insert", 4),
        Row(8, "delete", 4),
        Row(12, "insert", 1),
        Row(12, "delete", 1),
        Row(100, "insert", 1)))
  }

  test("dropDuplicates after it loses no row at exactly the watermark") {
    val stream = ticks()
    val changes = keptInTime(stream)
    val distinct = changes
      .dropDuplicates("_change_time", "k", "_change_seq")
      .select($"_change_type", $"k", $"n")
    val once = runBatches(distinct, stream)(batches: _*)
    assert(once.rows.size == 12 + 8 + 1)
    assert(once.rows.toSet.size == once.rows.size)
  }

  test("a join on its time finds all rows, those at exactly the watermark too") {
    val stream = ticks()
    val changes = keptInTime(stream).where($"_change_type" === "insert").as("kept")
    val again = timed(stream).as("input")
    val joined = changes
      .join(again, expr("kept.k = input.k AND kept._change_time = input.ts"))
      .select($"kept.n", $"input.n")
    val written = runBatches(joined, stream)(batches: _*)
    assert(written.rows.toSet == seconds.map(t => Row(t.n, t.n)).toSet + Row(100, 100))
  }

  test("another keep after it", Longer) {
    val stream = ticks()
    val inserts = keptInTime(stream)
      .where($"_change_type" === "insert")
      .select($"k", $"_change_time".as("at"), $"n")
    val again =
      keep(inserts, "PARTITION BY (k) ORDER BY (n), 'KEEP 2 SECONDS', time => 'at'")
        .select($"_change_type", unix_seconds($"_change_time"), $"n")
    val written = runBatches(again, stream)(batches: _*)
    val inserted = seconds.map(t => Row("insert", t.sec, t.n)) :+ Row("insert", 100, 100)
    // A row expires when it is two seconds old, which is when the next row of its group arrives.
    val deleted = seconds.map(t => Row("delete", t.sec + 2, t.n))
    assert(written.rows.toSet == (inserted ++ deleted).toSet + Row("delete", 102, 100))
    assert(written.rows.size == 26)
  }

  test("a join with itself, and a union with itself", Longer) {
    val stream = ticks()
    val changes = keptInTime(stream)
    val joined = changes
      .as("a")
      .join(changes.as("b"), expr("a.k = b.k AND a._change_seq = b._change_seq"))
      .select($"a._change_type", $"b._change_type", $"a.n", $"b.n")
    val pairs = runBatches(joined, stream)(batches: _*).rows
    assert(pairs.size == 12 + 8 + 1)
    assert(pairs.forall(r => r.get(0) == r.get(1) && r.get(2) == r.get(3)))

    val second = ticks()
    val once = keptInTime(second)
    val twice =
      runBatches(once.union(once).select($"k", $"_change_seq"), second)(batches: _*).rows
    assert(twice.size == 2 * (12 + 8 + 1))
    assert(twice.toSet.size == 12 + 8 + 1)
  }

  private def noShuffleAboveAggregate(keep: StatefulKeepExec): Boolean = {
    def reaches(plan: SparkPlan): Boolean = plan match {
      case _: StateStoreSaveExec => true
      case _: ShuffleExchangeExec => false
      case other => other.children.exists(reaches)
    }
    reaches(keep.child)
  }
}
