package winops.spark.execution

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.StreamingQuery

import winops.spark.plan.RealTimeSettings
import winops.spark.testing.RealTimeTest
import winops.spark.testing.RealTimeTest.{Event, Seen}

/** Windows in real-time mode: the changes of a row leave while the batch lasts, and are those of
  * a table with the same rows.
  */
class RealTimeSuite extends RealTimeTest {

  /** Longer than a test takes, so that its output does not come from the end of a batch. */
  private val long = Some("10 minutes")

  private def events(groups: Int, rows: Int): Seq[Event] =
    (0 until rows).map(i => Event(i % groups, i.toLong))

  windows.zipWithIndex.foreach { case (window, number) =>
    test(s"$window emits the changes of a table within a batch") {
      val arguments = s"PARTITION BY (k) ORDER BY (id), $window"
      val rows = events(groups = 5, rows = 60)
      val expected = changesOfTable(rows, arguments)
      check(rows, arguments, s"window $number", expected)
    }
  }

  /** The number of rows in the batches of a query that have ended. */
  private def committed(query: StreamingQuery): Long =
    query.recentProgress.map(_.numInputRows).sum

  private def check(
      rows: Seq[Event],
      arguments: String,
      name: String,
      expected: Seq[Seen]): Unit = inTempDir { folder =>
    val input = new Input(folder)
    val query = start(keep(input.rows, arguments), folder, name, long)
    try {
      rows.grouped(7).foreach(input.add)
      waitUntil(query)(received(name).size >= expected.size)
      assert(byGroup(received(name), arguments) == byGroup(expected, arguments))
      // The batch lasts, so no change has come twice.
      assert(received(name).size == expected.size)
    } finally query.stop()
  }

  test("groups that are closed for others come back with their rows") {
    spark.conf.set(RealTimeSettings.OpenGroups, "2")
    try {
      val arguments = "PARTITION BY (k) ORDER BY (id), 'KEEP 3 ROWS'"
      val rows = events(groups = 40, rows = 400)
      check(rows, arguments, "closed", changesOfTable(rows, arguments))
    } finally spark.conf.unset(RealTimeSettings.OpenGroups)
  }

  test("a window over the changes of another one emits those of a table within a batch") {
    val first = "PARTITION BY (k) ORDER BY (id), 'KEEP 3 ROWS'"
    // The second window is in the task of the first one, or behind a shuffle of its own.
    Seq("k" -> 5, "id5" -> 1).foreach { case (group, keys) =>
      val second = s"PARTITION BY ($group) ORDER BY (first_seq), 'KEEP 4 ROWS'"
      def both(df: DataFrame): DataFrame = {
        val changes = keep(df, first).where("_change_type = 'insert'")
        keep(changes.selectExpr("k", "id", "_change_seq AS first_seq"), second)
      }
      val rows = (0 until 60).map(i => Event(i % keys, i.toLong))
      val expected = changesOfTable(rows)(both)
      inTempDir { folder =>
        val input = new Input(folder)
        val name = s"chained by $group"
        val query = start(both(input.rows), folder, name, long)
        try {
          rows.grouped(7).foreach(input.add)
          waitUntil(query)(received(name).size >= expected.size)
          assert(byKey(received(name)) == byKey(expected))
        } finally query.stop()
      }
    }
  }

  private def byKey(changes: Seq[Seen]): Map[(Int, Long), Seq[(Long, String, Long)]] =
    byGroup(changes, "#unique(id5)")

  test("a window without a group runs in one task") {
    val arguments = "WITH SINGLE PARTITION ORDER BY (id), 'KEEP 3 ROWS'"
    inTempDir { folder =>
      val input = new Input(folder, parts = 1)
      val query = start(keep(input.rows, arguments), folder, "one task", long)
      try {
        input.add(events(groups = 1, rows = 10))
        waitUntil(query)(received("one task").size >= 17)
        assert(received("one task").map(_.seq) == (0L until 17L))
      } finally query.stop()
    }
  }

  test("a row leaves at its time while no row arrives") {
    inTempDir { folder =>
      val input = new Input(folder)
      val arguments = "PARTITION BY (k) ORDER BY (id), 'KEEP 1 SECOND'"
      val query = start(keep(input.rows, arguments), folder, "timers", long)
      try {
        // The tasks have started when the first row has come.
        input.add(Seq(Event(0, 0L)))
        waitUntil(query)(received("timers").nonEmpty)
        (1 to 5).foreach { i =>
          input.add(Seq(Event(i, i.toLong)))
          Thread.sleep(200)
        }
        waitUntil(query)(received("timers").count(_.kind == "delete") == 6)
        val inserted = received("timers").filter(_.kind == "insert").map(row => row.id -> row)
        val deleted = received("timers").filter(_.kind == "delete")
        deleted.foreach { row =>
          val stayed = row.time - inserted.toMap.apply(row.id).time
          assert(stayed >= 1000 && stayed <= 1001)
        }
        val late = deleted.map(row => row.at - row.time).sorted
        assert(late.head <= 100, s"rows left ${late.mkString(", ")} ms after their time")
        assert(late.last < 5000)
      } finally query.stop()
    }
  }

  test("timers that come due while no query runs fire when a batch begins") {
    inTempDir { folder =>
      val input = new Input(folder)
      val arguments = "PARTITION BY (k) ORDER BY (id), 'KEEP 6 SECONDS'"
      val first = start(keep(input.rows, arguments), folder, "restart", Some("1 second"))
      try {
        input.add((0 until 4).map(k => Event(k, k.toLong)))
        waitUntil(first)(committed(first) >= 4)
      } finally first.stop()
      Thread.sleep(6000)
      val second = start(keep(input.rows, arguments), folder, "restart", long)
      try {
        waitUntil(second)(received("restart").count(_.kind == "delete") >= 4)
        assert(received("restart").count(_.kind == "delete") == 4)
      } finally second.stop()
    }
  }

  test("micro-batches and real-time mode share a checkpoint") {
    inTempDir { folder =>
      val input = new Input(folder)
      val arguments = "PARTITION BY (k) ORDER BY (id), 'KEEP 3 ROWS'"
      val all = events(groups = 6, rows = 300)
      val parts = all.grouped(50).toSeq
      val expected = byGroup(changesOfTable(all, arguments), arguments)

      def run(batch: Option[String], rows: Seq[Event])(end: StreamingQuery => Unit): Unit = {
        val query = start(keep(input.rows, arguments), folder, "switch", batch)
        try {
          val before = distinct.size
          input.add(rows)
          batch match {
            case Some(_) => waitUntil(query)(distinct.size >= before + rows.size)
            case None => query.processAllAvailable()
          }
          if (batch.contains("1 second")) waitUntil(query)(committed(query) >= rows.size)
          end(query)
        } finally query.stop()
      }
      def distinct: Set[(Int, Long, String)] =
        received("switch").map(row => (row.k, row.seq, row.kind)).toSet

      val nothing: StreamingQuery => Unit = _ => ()
      run(None, parts.head)(nothing)
      run(Some("1 second"), parts(1))(nothing)
      run(None, parts(2))(nothing)
      // Stopped in a batch, whose rows come again.
      run(long, parts(3))(query => assert(committed(query) == 0))
      run(Some("1 second"), parts(4))(nothing)
      run(None, parts(5))(nothing)
      assert(byGroup(received("switch"), arguments) == expected)
      assert(received("switch").size > expected.values.map(_.size).sum)
    }
  }

  test("a first batch that is stopped runs again") {
    inTempDir { folder =>
      val input = new Input(folder)
      val arguments = "PARTITION BY (k) ORDER BY (id), 'KEEP 3 ROWS'"
      val all = events(groups = 6, rows = 60)
      val (before, after) = all.splitAt(30)
      val expected = changesOfTable(all, arguments)

      def distinct: Set[(Int, Long)] = received("first").map(row => (row.k, row.seq)).toSet
      def run(rows: Seq[Event], changes: Int): Unit = {
        val query = start(keep(input.rows, arguments), folder, "first", long)
        try {
          input.add(rows)
          waitUntil(query)(distinct.size >= changes)
          assert(committed(query) == 0)
        } finally query.stop()
      }

      run(before, changesOfTable(before, arguments).size)
      run(after, expected.size)
      assert(byGroup(received("first"), arguments) == byGroup(expected, arguments))
      assert(received("first").size > expected.size)
    }
  }

  test("window functions in the order of arrival") {
    inTempDir { folder =>
      val input = new Input(folder)
      input.rows.createOrReplaceTempView("input_of_over")
      spark.conf.set("spark.winops.over.arrivalOrder", "true")
      try {
        val sums = spark.sql(
          "SELECT k, total AS id, n AS _change_seq, 'insert' AS _change_type, " +
            "CAST(NULL AS TIMESTAMP) AS _change_time FROM (SELECT k, id AS n, " +
            "sum(id) OVER (PARTITION BY k ORDER BY id ROWS 2 PRECEDING) AS total " +
            "FROM input_of_over)")
        val query = start(sums, folder, "over", long)
        try {
          input.add((0L until 8L).map(Event(0, _)))
          waitUntil(query)(received("over").size == 8)
          assert(received("over").map(_.id) == Seq(0L, 1L, 3L, 6L, 9L, 12L, 15L, 18L))
        } finally query.stop()
      } finally spark.conf.unset("spark.winops.over.arrivalOrder")
    }
  }
}
