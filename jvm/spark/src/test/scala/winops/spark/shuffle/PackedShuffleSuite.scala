package winops.spark.shuffle

import org.apache.spark.SparkEnv
import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec

import winops.spark.testing.{KeepStreamTest, Tick}

/** The shuffle before a `keep` over a stream. */
class PackedShuffleSuite extends KeepStreamTest {
  import PackedShuffleSuite._

  test("packed rows are fewer bytes, and the changes are the same") {
    val packed = shuffled()
    // Simulates more partitions than a task writes files for.
    SparkEnv.get.conf.set(FilesOfTask, "1")
    val plain =
      try shuffled()
      finally {
        val _ = SparkEnv.get.conf.remove(FilesOfTask)
      }
    assert(packed.changes.size == 2 * Rows - Keys * 10)
    assert(packed.changes.toSet == plain.changes.toSet)
    assert(packed.rowsWritten == Rows && plain.rowsWritten == Rows)
    assert(packed.rowBytes == plain.rowBytes)
    assert(packed.bytesWritten < plain.bytesWritten * 0.8)
  }

  private def shuffled(): Shuffled = {
    val stream = ticks()
    stream.addData((0 until Rows).map(i => Tick(s"key ${i % Keys}", i.toLong, i)))
    val kept = keep(stream.toDF(), "PARTITION BY (k) ORDER BY (n), 'KEEP 10 ROWS'")
    val written = new Written
    var emitted = Map.empty[String, Long]
    withTempDir { dir =>
      val query = start(kept, dir.getCanonicalPath, written)
      try {
        query.processAllAvailable()
        val plan = execution(query).lastExecution.executedPlan
        val metrics = plan.collect { case exchange: ShuffleExchangeExec => exchange.metrics }.head
        emitted = metrics.map { case (name, metric) => name -> metric.value }
      } finally query.stop()
    }
    Shuffled(
      // The change time is the time of the batch, so it is not compared.
      written.rows.map(change => Row.fromSeq(change.toSeq.patch(1, Nil, 1))),
      emitted("shuffleRecordsWritten"),
      emitted("dataSize"),
      emitted("shuffleBytesWritten"))
  }
}

private object PackedShuffleSuite {
  private val FilesOfTask = "spark.shuffle.sort.bypassMergeThreshold"
  private val Rows = 20000
  private val Keys = 40

  final case class Shuffled(
      changes: Seq[Row],
      rowsWritten: Long,
      rowBytes: Long,
      bytesWritten: Long)
}
