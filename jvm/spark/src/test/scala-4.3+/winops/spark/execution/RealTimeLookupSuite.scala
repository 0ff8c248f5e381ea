package winops.spark.execution

import winops.spark.testing.RealTimeTest
import winops.spark.testing.RealTimeTest.Event

/** Lookups in real-time mode: a row is answered while the batch lasts. */
class RealTimeLookupSuite extends RealTimeTest {
  test("a row is answered with the rows that have come before it") {
    inTempDir { folder =>
      // Each task of a source takes a core for as long as the batch.
      val rows = new Input(folder.resolve("rows"), parts = 1)
      val asks = new Input(folder.resolve("asks"), parts = 1)
      asks.rows.createOrReplaceTempView("asks")
      val answers = keep(
        rows.rows,
        "PARTITION BY (k) ORDER BY (id), 'KEEP 2 ROWS', output => 'lookup', " +
          "lookup => TABLE(asks), " +
          "aggregates => TABLE(SELECT count(*) AS c, sum(id) AS s FROM input_of_keep)")
      val shown = answers.selectExpr(
        "k",
        "c AS _change_seq",
        "string(s) AS _change_type",
        "id",
        "timestamp_seconds(0) AS _change_time")
      val query = start(shown, folder, "lookups", Some("10 minutes"))
      try {
        rows.add(Seq(Event(0, 1), Event(0, 2), Event(0, 3)))
        // The streams have no order among each other, so the row comes until it is answered.
        waitUntil(query) {
          asks.add(Seq(Event(0, 10), Event(7, 11)))
          val answers = received("lookups")
          answers.exists(answer => answer.k == 0 && answer.kind == "5") &&
          answers.exists(_.k == 7)
        }
        val (known, unknown) = received("lookups").partition(_.k == 0)
        assert(known.forall(answer => answer.seq <= 2 && answer.id == 10))
        assert(unknown.forall(answer => answer.seq == 0 && answer.kind == null))
        assert(unknown.nonEmpty)
        // The batch lasts.
        assert(query.recentProgress.map(_.numInputRows).sum == 0)
      } finally query.stop()
    }
  }

  test("rows that wait for the watermark are refused") {
    inTempDir { folder =>
      def timed(name: String) =
        new Input(folder.resolve(name), parts = 1).rows
          .selectExpr("k", "id", "timestamp_seconds(id) AS ts")
          .withWatermark("ts", "0 seconds")
      timed("asks").createOrReplaceTempView("asks")
      val answers = keep(
        timed("rows"),
        "PARTITION BY (k), 'KEEP 2 ROWS', time => 'ts', output => 'lookup', " +
          "lookup => TABLE(asks), aggregates => TABLE(SELECT count(*) AS c FROM input_of_keep)")
      val error = intercept[Exception](start(answers, folder, "refused", Some("10 minutes")))
      assert(error.getMessage.contains("WINOPS_REAL_TIME.EVENT_TIME"))
    }
  }
}
