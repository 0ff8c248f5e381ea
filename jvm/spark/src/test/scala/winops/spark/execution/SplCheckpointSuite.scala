package winops.spark.execution

import java.io.File

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.execution.streaming.sources.MemorySink
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.streaming.util.StreamManualClock

import winops.spark.testing.{Interruptions, KeepStreamTest, Tick}
import winops.testing.Longer

/** Windows of IBM Streams across checkpoints, restarts and outages. */
class SplCheckpointSuite extends Interruptions {
  import KeepStreamTest._
  import SplCheckpointSuite._
  import testImplicits._

  /** The events of several windows. */
  private def eventsOf(windows: Seq[String], df: DataFrame, more: String = ""): DataFrame =
    windows
      .map { window =>
        keep(df, s"PARTITION BY (k) ORDER BY (n), spl => '$window', output => 'events'$more")
          .withColumn("window", lit(window))
      }
      .reduce(_.union(_))
      .select(
        $"window",
        $"k",
        $"_event_type",
        unix_seconds($"_change_time").as("second"),
        transform($"rows", _.getField("n")).as("n"))

  private def emitted(stream: MemoryStream[Tick], window: String): DataFrame =
    eventsOf(Seq(window), stream.toDF()).select($"k", $"_event_type", $"n")

  private def rowsOf(stream: MemoryStream[Tick], checkpoint: String, window: String): Seq[Row] =
    runAll(emitted(stream, window), checkpoint).rows

  test(
    "SPL-24, SPL-28.1, SPL-28.2: a checkpoint has all partitions, with all that is known of them") {
    val events = checkInterrupted(eventsOf(AllWindows, _, ", time => 'ts'"))
    assert(
      events.map(_.getAs[String]("_event_type")).toSet ==
        Set("INSERTION", "EVICTION", "PARTITION_EVICTION", "TRIGGER", "INITIAL_FULL"))
    assert(events.map(_.getAs[String]("window")).toSet == AllWindows.toSet)
  }

  test(
    "SPL-25, SPL-28.4: after a reset there is what the checkpoint has, and no word of the rest") {
    val window = "sliding, count(2), count(3), partitioned"
    val (first, lost, next) = (
      Seq(Tick("a", 0, 1), Tick("b", 0, 2)),
      Seq(Tick("c", 0, 3), Tick("a", 0, 4), Tick("a", 0, 5)),
      Seq(Tick("a", 0, 6), Tick("c", 0, 7), Tick("a", 0, 8)))
    withTempDir { dir =>
      val (used, saved) = (s"$dir/used", s"$dir/saved")
      val stream = ticks()
      stream.addData(first)
      rowsOf(stream, used, window)
      copyCheckpoint(new File(used), new File(saved))
      stream.addData(lost)
      assert(rowsOf(stream, used, window).nonEmpty)

      val resumed = ticks()
      resumed.addData(first)
      resumed.addData(next)
      assert(
        rowsOf(resumed, saved, window).toSet == Set(
          Row("a", "INSERTION", Seq(6)),
          Row("a", "INITIAL_FULL", Seq(1, 6)),
          Row("c", "INSERTION", Seq(7)),
          Row("a", "EVICTION", Seq(1)),
          Row("a", "INSERTION", Seq(8)),
          Row("a", "TRIGGER", Seq(6, 8))))
    }
  }

  test(
    "SPL-26, SPL-28.3: what fell due in an outage is emitted first, at its time, and periods continue") {
    val (half, whole) = ("tumbling, time(30), partitioned", "tumbling, time(60), partitioned")
    val (triggered, aged) =
      (
        "sliding, time(3600), time(10), partitioned",
        "sliding, count(9), partitioned, partitionAge(20)")
    val windows = Seq(half, whole, triggered, aged)
    val stream = ticks()
    val clock = new StreamManualClock
    val sink = new MemorySink
    var expected = Set.empty[Row]
    def event(window: String, kind: String, second: Long, n: Int*) = Row(window, kind, second, n)
    def emits(events: Row*) = AssertOnQuery { _ =>
      expected ++= events
      eventually(timeout(streamingTimeout))(assert(sink.allData.toSet == expected))
      true
    }
    def started = StartStream(Trigger.ProcessingTime("1 second"), triggerClock = clock)
    // The rows of other groups only cause batches.
    val ofOne = eventsOf(windows, stream.toDF()).where($"k" === "a").drop("k")
    testStream(ofOne, sink = sink)(
      started,
      AddData(stream, Tick("a", 0, 1)),
      AdvanceManualClock(1000),
      emits(
        windows.map(event(_, "INSERTION", 1, 1)) ++
          Seq(event(triggered, "INITIAL_FULL", 1), event(aged, "TRIGGER", 1, 1)): _*),
      StopStream,
      started,
      AddData(stream, Tick("b", 0, 2)),
      AdvanceManualClock(35000),
      emits(
        event(half, "EVICTION", 31, 1),
        event(triggered, "TRIGGER", 11, 1),
        event(triggered, "TRIGGER", 21, 1),
        event(triggered, "TRIGGER", 31, 1),
        event(aged, "PARTITION_EVICTION", 21, 1)),
      AddData(stream, Tick("a", 0, 3)),
      AdvanceManualClock(1000),
      emits(windows.map(event(_, "INSERTION", 37, 3)) :+ event(aged, "TRIGGER", 37, 3): _*),
      AddData(stream, Tick("b", 0, 4)),
      AdvanceManualClock(25000),
      emits(
        event(half, "EVICTION", 61, 3),
        event(whole, "EVICTION", 61, 1, 3),
        event(triggered, "TRIGGER", 41, 1, 3),
        event(triggered, "TRIGGER", 51, 1, 3),
        event(triggered, "TRIGGER", 61, 1, 3),
        event(aged, "PARTITION_EVICTION", 57, 3)))
    assert(sink.allData.size == expected.size)
  }

  test("SPL-27: a new checkpoint is the initial state, and nothing of the old one is emitted") {
    val window = "sliding, count(2), count(2), partitioned"
    val stream = ticks()
    stream.addData((1 to 7).map(n => Tick(s"${n % 2}", 0, n)))
    withTempDir { dir =>
      val first = rowsOf(stream, s"$dir/first", window)
      assert(first.count(_.getString(1) == "INITIAL_FULL") == 2)
      assert(rowsOf(stream, s"$dir/second", window) == first)
    }
  }

  test("SPL-28.5: a trigger goes on with its count, and with its reference", Longer) {
    val counted = "sliding, count(9), count(3), partitioned"
    val measured = "sliding, count(9), delta(n, 5), partitioned"
    val stream = ticks()
    val newest = eventsOf(Seq(counted, measured), stream.toDF())
      .where($"_event_type" === "TRIGGER")
      .select($"window", element_at($"n", -1))
    val triggers = Seq.newBuilder[Set[Row]]
    withTempDir { dir =>
      Seq(1, 2, 6, 7, 11, 12, 13).foreach { n =>
        stream.addData(Tick("a", 0, n))
        triggers += runAll(newest, dir.getCanonicalPath).rows.toSet
      }
    }
    // The delta trigger reports the contents before the row: 7 is more than 5 above 1.
    assert(
      triggers.result() == Seq(
        Set(),
        Set(),
        Set(Row(counted, 6)),
        Set(Row(measured, 6)),
        Set(),
        Set(Row(counted, 12)),
        Set(Row(measured, 12))))
  }

  test("SPL-28.6: an aggregate after the window has a state of its own", Longer) {
    val stream = ticks()
    val evicted = keep(
      timed(stream),
      "PARTITION BY (k) ORDER BY (n), spl => 'sliding, count(3), partitioned', time => 'ts'")
      .where($"_change_type" === "delete")
      .groupBy(window($"_change_time", "20 seconds"), $"k")
      .count()
      .select(unix_seconds($"window.start"), $"k", $"count")
    val batches = Seq((1 to 12), (13 to 30), (90 to 90), (190 to 190))
    val written = new Written
    withTempDir { dir =>
      batches.foreach { numbers =>
        stream.addData(numbers.map(n => Tick("a", n.toLong, n)))
        runAll(evicted, dir.getCanonicalPath, written)
      }
      val operators = spark.read.format("state-metadata").load(dir.getCanonicalPath)
      assert(
        operators.select("operatorName").as[String].collect().toSet ==
          Set("keep", "stateStoreSave"))
    }
    assert(written.rows.toSet == Set(Row(0L, "a", 16L), Row(20L, "a", 11L), Row(80L, "a", 1L)))
  }

  test("SPL-28.7: every event of a batch is emitted before the batch commits") {
    val stream = ticks()
    val written = new Written
    withTempDir { dir =>
      val query =
        start(emitted(stream, "tumbling, count(3), partitioned"), dir.getCanonicalPath, written)
      try
        (1 to 5).foreach { size =>
          val come = written.rows.count(_.getString(1) == "INSERTION")
          stream.addData((1 to size).map(n => Tick(s"${n % 2}", 0, 10 * size + n)))
          query.processAllAvailable()
          val left = written.rows.filter(_.getString(1) == "EVICTION").map(_.getSeq[Int](2).size)
          assert(written.rows.count(_.getString(1) == "INSERTION") == come + size)
          val held = progressOf(query).last.stateOperators.head.customMetrics.get("rowsHeld")
          assert(held == come + size - left.sum)
        }
      finally query.stop()
    }
  }
}

private object SplCheckpointSuite {
  val AllWindows: Seq[String] = Seq(
    "sliding, time(8), time(3), partitioned, partitionAge(3)",
    "sliding, delta(n, 30), delta(n, 20), partitioned",
    "sliding, count(4), count(3), partitioned, partitionCount(3)")
}
