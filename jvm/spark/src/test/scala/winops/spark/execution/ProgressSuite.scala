package winops.spark.execution

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.StateOperatorProgress
import org.apache.spark.sql.winops.live.LiveListener

import winops.spark.internal.KeepMetrics
import winops.spark.live.LiveQueries
import winops.spark.testing.{KeepStreamTest, Tick}

/** The metrics of `keep` in a query's progress. */
class ProgressSuite extends KeepStreamTest {
  import testImplicits._

  /** The metrics of rows and groups. */
  private def metrics(operator: StateOperatorProgress): Map[String, Long] =
    ownMetrics(operator).filterNot(_._1.startsWith("state"))

  /** The metrics of an operator, of which those that are not named are 0. */
  private def numbers(found: (String, Long)*): Map[String, Long] =
    names.map(_ -> 0L).toMap ++ found

  private val names = ("rowsInserted rowsDeleted rowsHeld rowsOutOfOrder rowsNullTime " +
    "rowsRefused rowsUpdated rowsRemoved rowsNotHeld rowsReturned rowsLookedUp rowsWaiting " +
    "rowsAfterFinal rowsEvictedSilently groups groupsExpired")
    .split(' ')

  private def ownMetrics(operator: StateOperatorProgress): Map[String, Long] =
    operator.customMetrics.asScala.collect {
      case (name, value) if KeepMetrics.own.exists(_._1 == name) => name -> value.toLong
    }.toMap

  test("the numbers of a batch, and of what is held after it") {
    val stream = ticks()
    val df = withTime(stream.toDF())
      .selectExpr("k", "IF(n < 0, NULL, ts) AS ts", "n")
      .withWatermark("ts", "0 seconds")
    val kept = keep(
      df,
      "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS', time => 'ts', apply => 'arrival', " +
        "idle => '10 seconds', on_null_time => 'drop'")
    withTempDir { dir =>
      val query = start(kept, dir.getCanonicalPath, new Written)
      try {
        stream.addData(
          Tick("a", 10, 1),
          Tick("a", 11, 2),
          Tick("a", 12, 3),
          Tick("b", 12, 4),
          Tick("c", 0, -1))
        query.processAllAvailable()
        stream.addData(Tick("b", 12, 4))
        query.processAllAvailable()
        stream.addData(Tick("a", 11, 9), Tick("a", 13, 2), Tick("b", 40, 5), Tick("d", 13, -7))
        query.processAllAvailable()

        val batches = progressOf(query).filter(_.stateOperators.nonEmpty)
        val operators = batches.map(_.stateOperators.head)
        assert(operators.map(_.operatorName).toSet == Set("keep"))
        assert(operators.size == 4)
        val (first, second, third) = (operators(0), operators(2), operators(3))
        assert(
          metrics(first) == numbers(
            "rowsInserted" -> 4L,
            "rowsDeleted" -> 1L,
            "rowsHeld" -> 3L,
            "rowsNullTime" -> 1L,
            "groups" -> 2L))
        // At watermark 12 one row is late, one has no time, one violates its group's order, and
        // one belongs to a group that was silent for too long.
        assert(second.numRowsDroppedByWatermark == 1)
        assert(
          metrics(second) == numbers(
            "rowsInserted" -> 2L,
            "rowsDeleted" -> 3L,
            "rowsHeld" -> 3L,
            "rowsOutOfOrder" -> 1L,
            "rowsNullTime" -> 1L,
            "groups" -> 2L,
            "groupsExpired" -> 1L))
        assert(
          metrics(third) == numbers(
            "rowsDeleted" -> 2L,
            "rowsHeld" -> 1L,
            "groups" -> 1L,
            "groupsExpired" -> 1L))
        assert(third.numRowsRemoved >= 1)
        assert(first.numRowsUpdated >= 2 && first.numShufflePartitions == 2)
        assert(first.numRowsTotal >= 2 && first.memoryUsedBytes > 0)
        assert(batches.head.stateOperators.head.commitTimeMs >= 0)
        val read = ownMetrics(third)
        assert(read("stateEntriesRead") > 0 && read("stateBytesRead") > 0)
        operators.foreach { operator =>
          val own = ownMetrics(operator)
          val entries = operator.numRowsUpdated + operator.numRowsRemoved
          assert(own("stateEntriesWritten") == entries)
          assert(own("stateBytesWritten") > 32 * entries)
        }
        assert(ownMetrics(first)("stateEntriesRead") == 0)
        assert(first.customMetrics.get(KeepMetrics.LargestGroup) == 2)
        // Without a UI and without gauges, nothing is recorded.
        assert(LiveQueries.of(spark.sparkContext).isEmpty)
        assert(!spark.streams.listListeners().exists(_.isInstanceOf[LiveListener]))
      } finally query.stop()
    }
  }

  test("the progress of a query contains both of its keeps") {
    val stream = ticks()
    val inner = keep(stream.toDF(), "PARTITION BY (k), 'KEEP 1 ROW'").select($"k", $"n")
    val kept = keep(inner, "PARTITION BY (k) ORDER BY (n), 'KEEP 3 ROWS'")
    withTempDir { dir =>
      val query = start(kept, dir.getCanonicalPath, new Written)
      try {
        stream.addData((1 to 6).map(i => Tick("a", 0, i)))
        query.processAllAvailable()
        val operators = query.lastProgress.stateOperators.toSeq
        assert(operators.map(_.operatorName) == Seq("keep", "keep"))
        assert(operators.map(metrics(_)("rowsInserted")).toSet == Set(6, 11))
      } finally query.stop()
    }
  }
}
