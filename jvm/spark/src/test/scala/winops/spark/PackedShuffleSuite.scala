package winops.spark

import org.apache.spark.SparkEnv
import org.apache.spark.internal.config.SHUFFLE_SORT_BYPASS_MERGE_THRESHOLD
import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec

/** What goes through the shuffle before a `keep` over a stream. */
class PackedShuffleSuite extends KeepStreamTest {
  import PackedShuffleSuite._

  test("packed rows are fewer bytes, and the changes are the same") {
    val packed = shuffled()
    val conf = SparkEnv.get.conf
    val threshold = conf.get(SHUFFLE_SORT_BYPASS_MERGE_THRESHOLD)
    // As with more partitions than a task writes files for.
    conf.set(SHUFFLE_SORT_BYPASS_MERGE_THRESHOLD, 1)
    val plain =
      try shuffled()
      finally conf.set(SHUFFLE_SORT_BYPASS_MERGE_THRESHOLD, threshold)
    assert(packed.changes.size == 2 * Rows - Keys * 10)
    assert(packed.changes.sortBy(_.toString) == plain.changes.sortBy(_.toString))
    assert(packed.rowsWritten == Rows && plain.rowsWritten == Rows)
    assert(packed.rowBytes == plain.rowBytes)
    assert(packed.bytesWritten < plain.bytesWritten * 0.8)
  }

  private def shuffled(): Shuffled = {
    val stream = ticks()
    stream.addData((0 until Rows).map(i => Tick(s"key ${i % Keys}", i.toLong, i)))
    val written = new Written
    withTempDir { dir =>
      val kept = keep(stream.toDF(), "PARTITION BY (k) ORDER BY (n), 'KEEP 10 ROWS'")
      val query = start(kept, dir.getCanonicalPath, written)
      try {
        query.processAllAvailable()
        val plan = execution(query).lastExecution.executedPlan
        val metrics = plan.collect { case exchange: ShuffleExchangeExec => exchange.metrics }.head
        Shuffled(
          written.rows,
          metrics("shuffleRecordsWritten").value,
          metrics("dataSize").value,
          metrics("shuffleBytesWritten").value)
      } finally query.stop()
    }
  }
}

private object PackedShuffleSuite {
  private val Rows = 20000
  private val Keys = 40

  final case class Shuffled(
      changes: Seq[Row],
      rowsWritten: Long,
      rowBytes: Long,
      bytesWritten: Long)
}
