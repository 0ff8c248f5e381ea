package winops.spark.execution

import java.sql.Timestamp

import org.scalatest.time.SpanSugar._

import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.streaming.StreamingQueryException

import winops.spark.testing.{KeepStreamTest, Tick}
import winops.testing.Longer

/** Windows without a time column: time is the batch timestamp, and a batch runs when a timer is
  * due.
  */
class ProcessingTimeSuite extends KeepStreamTest {
  private val call = "PARTITION BY (k), 'KEEP 6 SECONDS'"

  private def kindAndKey(row: Row): (String, String) =
    (row.getAs[String]("_change_type"), row.getAs[String]("k"))

  private def millis(row: Row): Long = row.getAs[Timestamp]("_change_time").getTime

  test(
    "rows of silent groups leave when they are due, in a batch of their own, and no other runs",
    Longer) {
    val stream = ticks()
    val written = new Written
    withTempDir { dir =>
      val query = start(keep(stream.toDF(), call), dir.getCanonicalPath, written)
      try {
        stream.addData(Tick("a", 0, 1), Tick("b", 0, 2))
        query.processAllAvailable()
        val inserts = written.rows
        assert(inserts.map(kindAndKey).toSet == Set("insert" -> "a", "insert" -> "b"))
        Thread.sleep(700)
        assert(written.batchCount == 1, "nothing is due yet")
        eventually(timeout(streamingTimeout), interval(20.millis)) {
          assert(written.rows.size == 4)
        }
        val deletes = written.rows.drop(2)
        assert(deletes.map(kindAndKey).toSet == Set("delete" -> "a", "delete" -> "b"))
        // The change time is the expiry time, whenever the batch ran.
        assert(deletes.map(millis).toSet == inserts.map(millis(_) + 6000).toSet)
        Thread.sleep(700)
        // A batch may run in the millisecond before the expiry time, and once more right after.
        assert(written.batchCount <= 3)
        assert(written.rows.size == 4)
      } finally query.stop()
    }
  }

  test("after a restart what is due later still comes by itself") {
    val stream = ticks()
    withTempDir { dir =>
      runBatchesUntilStop(stream, dir.getCanonicalPath)
      stream.addData(Tick("c", 0, 3))
      val written = new Written
      val query = start(keep(stream.toDF(), call), dir.getCanonicalPath, written)
      try {
        eventually(timeout(streamingTimeout), interval(50.millis)) {
          assert(written.rows.map(kindAndKey).count(_._1 == "delete") == 3)
        }
      } finally query.stop()
    }
  }

  test(
    "a batch that failed comes again with the same time and the same rows, and none before it") {
    val stream = ticks()
    withTempDir { dir =>
      val checkpoint = dir.getCanonicalPath
      val inserts = runBatchesUntilStop(stream, checkpoint)
      val isDue = inserts.map(millis).max + 6100
      Thread.sleep(Math.max(0L, isDue - System.currentTimeMillis()))
      val before = new Written
      val failing = start(
        keep(stream.toDF(), call),
        checkpoint,
        new Written,
        (batch, id) => {
          before.add(id, batch.collect().toSeq)
          throw new IllegalStateException("no disk")
        })
      Thread.sleep(500)
      assert(before.batchCount == 0, "nothing is due before the first batch")
      stream.addData(Tick("a", 0, 3))
      intercept[StreamingQueryException](failing.processAllAvailable())
      failing.stop()
      assert(
        before.rows.map(kindAndKey).toSet ==
          Set("insert" -> "a", "delete" -> "a", "delete" -> "b"))
      val deletes = before.rows.filter(kindAndKey(_)._1 == "delete")
      assert(deletes.map(millis).toSet == inserts.map(millis(_) + 6000).toSet)
      Thread.sleep(50)
      val after = new Written
      val again = start(keep(stream.toDF(), call), checkpoint, after)
      try eventually(timeout(streamingTimeout), interval(20.millis))(assert(after.batchCount > 0))
      finally again.stop()
      assert(before.rows.size == 3)
      assert(after.batch(1).toSet == before.batch(1).toSet)
    }
  }

  test("idle groups are forgotten by the batch's time") {
    val stream = ticks()
    val written = new Written
    withTempDir { dir =>
      val kept = keep(stream.toDF(), "PARTITION BY (k), 'KEEP ALL', idle => '1 second'")
      val query = start(kept, dir.getCanonicalPath, written)
      try {
        stream.addData(Tick("a", 0, 1), Tick("a", 0, 2))
        eventually(timeout(streamingTimeout), interval(20.millis)) {
          assert(written.rows.map(kindAndKey).count(_ == "delete" -> "a") == 2)
        }
        eventually(timeout(streamingTimeout), interval(20.millis)) {
          val operator = query.lastProgress.stateOperators.head
          assert(operator.customMetrics.get("groupsExpired") == 1L)
        }
      } finally query.stop()
    }
  }

  /** Runs one batch with rows of the groups a and b, before their expiry, and returns the
    * inserts.
    */
  private def runBatchesUntilStop(stream: MemoryStream[Tick], checkpoint: String): Seq[Row] = {
    stream.addData(Tick("a", 0, 1), Tick("b", 0, 2))
    val written = runAll(keep(stream.toDF(), call), checkpoint)
    assert(written.rows.map(kindAndKey(_)._1) == Seq("insert", "insert"))
    written.rows
  }
}
