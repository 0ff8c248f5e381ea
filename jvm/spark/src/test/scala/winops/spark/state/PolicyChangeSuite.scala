package winops.spark.state

import java.io.File

import org.apache.commons.io.FileUtils
import org.apache.logging.log4j.Level

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.winops.execution.StatefulKeepExec

import winops.spark.testing.{KeepStreamTest, Tick}
import winops.testing.Longer

/** Restarts with another `keep` than the one that wrote the checkpoint. */
class PolicyChangeSuite extends KeepStreamTest {
  import testImplicits._

  private val call =
    "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS', time => 'ts', apply => 'arrival'"

  private val first = Seq(Tick("a", 1, 1), Tick("a", 2, 2), Tick("b", 3, 3))

  /** Runs a first batch, and adds a row for the query that continues from its checkpoint. */
  private def afterFirst(body: (String, MemoryStream[Tick]) => Unit): Unit =
    afterFirst(call)(body)

  private def afterFirst(call: String)(body: (String, MemoryStream[Tick]) => Unit): Unit =
    withTempDir { dir =>
      val stream = ticks()
      stream.addData(first)
      runAll(keep(timed(stream), call), dir.getCanonicalPath)
      stream.addData(Tick("a", 100, 100))
      body(dir.getCanonicalPath, stream)
    }

  private val changes = Seq[(String, String, DataFrame => DataFrame)](
    ("policy", "#sort", keep(_, call.replace("'KEEP 2 ROWS'", "esper => '#sort(2, n)'"))),
    ("punctuation", "k", keep(_, call + ", punct => 'k'")),
    ("order", "DESC", keep(_, call.replace("(n)", "(n DESC)"))),
    ("group", "substring", keep(_, call.replace("(k)", "(substring(k, 1, 1))"))),
    ("apply", "event_time", keep(_, call.replace("arrival", "event_time"))),
    ("column n", "string", df => keep(df.withColumn("n", $"n".cast("string")), call)),
    ("policy", "KEEP 3 SECONDS", keep(_, call.replace("2 ROWS", "3 SECONDS"))),
    ("group", "n", keep(_, call.replace("(k)", "(n)"))),
    ("order", "m", df => keep(df.withColumnRenamed("n", "m"), call.replace("(n)", "(m)"))))

  changes.zipWithIndex.foreach { case ((field, named, change), i) =>
    val tags = Longer.unless(i < 6)
    test(s"another $field is refused, and the error names both ($named)", tags: _*) {
      afterFirst { (checkpoint, stream) =>
        val error = failureOf(change(timed(stream)), checkpoint)
        assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"))
        val now = error.getMessage.linesIterator.find(_.startsWith("In this query:"))
        val before = error.getMessage.linesIterator.find(_.startsWith("In the checkpoint:"))
        assert(now.exists(line => line.contains(s"$field = ") && line.contains(named)))
        assert(before.exists(line => line.contains(s"$field = ")))
        assert(now.map(_.split(": ", 2).last) != before.map(_.split(": ", 2).last))
      }
    }
  }

  test("another expression over the same column is refused") {
    withTempDir { dir =>
      val stream = ticks()
      def by(divisor: Int) =
        keep(timed(stream), s"PARTITION BY (n % $divisor), 'KEEP 2 ROWS', time => 'ts'")
      stream.addData(first)
      runAll(by(2), dir.getCanonicalPath)
      stream.addData(first)
      assert(
        conditionsOf(failureOf(by(3), dir.getCanonicalPath)).contains("WINOPS_POLICY_CHANGED"))
    }
  }

  test("the query that wrote the checkpoint goes on after another was refused") {
    afterFirst { (checkpoint, stream) =>
      failureOf(keep(timed(stream), call.replace("2 ROWS", "3 SECONDS")), checkpoint)
      val written = runAll(keep(timed(stream), call), checkpoint).rows
      assert(
        written.map(r => (r.getAs[String]("_change_type"), r.getAs[Int]("n"))) ==
          Seq("insert" -> 100, "delete" -> 1))
    }
  }

  test("caps and the treatment of rows without a time may change") {
    afterFirst { (checkpoint, stream) =>
      val relaxed = keep(timed(stream), s"$call, max_rows => 5, on_null_time => 'drop'")
      assert(runAll(relaxed, checkpoint).rows.size == 2)
      stream.addData(Tick("b", 101, 101))
      val strict = failureOf(keep(timed(stream), s"$call, max_rows => 1"), checkpoint)
      assert(conditionsOf(strict).contains("WINOPS_MAX_ROWS"))
    }
  }

  test("a new idle= forgets also groups that were silent before it came") {
    afterFirst { (checkpoint, stream) =>
      val emitted = runAll(keep(timed(stream), s"$call, idle => '10 seconds'"), checkpoint)
      assert(
        emitted.rows.map(change).toSet == Set(
          ("delete", 12L, "a", 1),
          ("delete", 12L, "a", 2),
          ("delete", 13L, "b", 3),
          ("insert", 100L, "a", 100)))
    }
  }

  test("a new idle= forgets also silent groups of a cross-group window") {
    val ofAll =
      call.replace("'KEEP 2 ROWS'", "spl => 'sliding, count(2), partitioned, partitionCount(9)'")
    afterFirst(ofAll) { (checkpoint, stream) =>
      val emitted = runAll(keep(timed(stream), s"$ofAll, idle => '10 seconds'"), checkpoint)
      assert(
        emitted.rows.map(change) == Seq(
          ("delete", 12L, "a", 1),
          ("delete", 12L, "a", 2),
          ("delete", 13L, "b", 3),
          ("insert", 100L, "a", 100)))
    }
  }

  test("a shorter idle= holds for all groups, and so does a longer one") {
    afterFirst { (checkpoint, stream) =>
      def runWith(idle: String) =
        runAll(keep(timed(stream), s"$call, idle => '$idle'"), checkpoint).rows.map(change)
      assert(runWith("1 day").map(_._1) == Seq("insert", "delete"))
      stream.addData(Tick("c", 200, 200))
      assert(
        runWith("10 seconds").toSet == Set(
          ("delete", 13L, "b", 3),
          ("delete", 110L, "a", 2),
          ("delete", 110L, "a", 100),
          ("insert", 200L, "c", 200)))
      stream.addData(Tick("d", 300, 300))
      assert(runWith("1 day") == Seq(("insert", 300L, "d", 300)))
      stream.addData(Tick("e", 400000, 400))
      val without = runAll(keep(timed(stream), call), checkpoint).rows.map(change)
      assert(without == Seq(("insert", 400000L, "e", 400)))
    }
  }

  private val held = Seq(
    Tick("a", 1, 1),
    Tick("a", 12, 2),
    Tick("a", 13, 3),
    Tick("a", 24, 4),
    Tick("b", 14, 5),
    Tick("b", 15, 6),
    Tick("z", 30, 7))

  private val later = Seq(
    Tick("a", 33, 8),
    Tick("c", 34, 9),
    Tick("c", 42, 10),
    Tick("a", 45, 11),
    Tick("z", 1000, 12))

  /** The changes after a restart with another window, which do not depend on the cut into batches
    * of these sizes.
    */
  private def resized(
      before: String,
      now: String,
      policy: String = "policy",
      sizes: Seq[Int] = Seq(1, later.size)): Map[String, Seq[(String, Long, Int)]] = {
    def call(window: String) =
      s"PARTITION BY (k) ORDER BY (n), $policy => '$window', time => 'ts'"
    val answers = sizes.map { rows =>
      val written = new Written
      withTempDir { dir =>
        val stream = ticks()
        stream.addData(held)
        runAll(keep(timed(stream), call(before)), dir.getCanonicalPath)
        val batches = later.grouped(rows).toSeq
        runEach(keep(timed(stream), call(now)), stream, batches, dir.getCanonicalPath, written)
      }
      written.rows
        .sortBy(_.getAs[Long]("_change_seq"))
        .map(change)
        .groupMap(_._3) { case (kind, at, _, n) => (kind, at, n) }
        .removed("z")
    }
    assert(answers.distinct.size == 1)
    answers.head
  }

  test("fewer rows: what is too much leaves with the group's next row") {
    val emitted = resized("KEEP 3 ROWS SLACK 2", "KEEP 2 ROWS")
    assert(
      emitted("a") == Seq(
        ("insert", 33, 8),
        ("delete", 33, 1),
        ("delete", 33, 2),
        ("delete", 33, 3),
        ("insert", 45, 11),
        ("delete", 45, 4)))
    assert(emitted.keySet == Set("a", "c"))
  }

  test("more rows: the window fills") {
    val emitted = resized("KEEP 2 ROWS", "KEEP 3 ROWS SLACK 1")
    assert(emitted("a") == Seq(("insert", 33, 8), ("insert", 45, 11), ("delete", 45, 3)))
    assert(resized("KEEP 2 ROWS", "KEEP ALL")("a").map(_._1) == Seq("insert", "insert"))
  }

  private def warningsOf(before: String, now: String): Seq[String] = {
    val appender = new LogAppender("warnings of a longer window")
    val operator = Seq(classOf[StatefulKeepExec].getName)
    withLogAppender(appender, operator, Some(Level.WARN)) {
      resized(before, now, sizes = Seq(later.size))
    }
    appender.loggingEvents.map(_.getMessage.getFormattedMessage).toSeq.distinct
  }

  test("a window that grows logs from how many rows it fills") {
    assert(
      warningsOf("KEEP 2 ROWS", "KEEP 3 ROWS") == Seq(
        "The window was [KEEP 2 ROWS] in the checkpoint and is [KEEP 3 ROWS] now. Rows that have left it " +
          "do not return: a group with 2 rows fills from 3 upward."))
    val ofAge = warningsOf("KEEP 10 SECONDS", "KEEP 20 SECONDS")
    assert(ofAge.size == 1 && ofAge.head.contains("when its oldest row has the new age"))
    assert(warningsOf("KEEP 3 ROWS", "KEEP 2 ROWS").isEmpty)
    assert(warningsOf("KEEP 3 ROWS", "KEEP 3 ROWS").isEmpty)
  }

  test("windows of Esper that get another length go on as those of CCL do") {
    assert(
      resized("#keepall", "#length(2)", "esper")("a") == Seq(
        ("insert", 33, 8),
        ("delete", 33, 1),
        ("delete", 33, 2),
        ("delete", 33, 3),
        ("insert", 45, 11),
        ("delete", 45, 4)))
  }

  test("a shorter interval: what is too old leaves at once, of groups without rows too") {
    val emitted = resized("KEEP 1 HOUR", "KEEP 10 SECONDS")
    assert(emitted("b") == Seq(("delete", 30, 5), ("delete", 30, 6)))
    assert(
      emitted("a") == Seq(
        ("delete", 30, 1),
        ("delete", 30, 2),
        ("delete", 30, 3),
        ("insert", 33, 8),
        ("delete", 34, 4),
        ("delete", 43, 8),
        ("insert", 45, 11),
        ("delete", 55, 11)))
  }

  test("a longer interval: rows stay until they are as old as it says") {
    val emitted = resized("KEEP 20 SECONDS", "KEEP 30 SECONDS")
    assert(emitted("b") == Seq(("delete", 44, 5), ("delete", 45, 6)))
    assert(
      emitted("a") == Seq(
        ("insert", 33, 8),
        ("delete", 42, 2),
        ("delete", 43, 3),
        ("insert", 45, 11),
        ("delete", 54, 4),
        ("delete", 63, 8),
        ("delete", 75, 11)))
  }

  test("intervals one after the other: another length counts from the same origin") {
    val emitted = resized("KEEP EVERY 1 HOUR", "KEEP EVERY 20 SECONDS")
    assert(emitted("b") == Seq(("delete", 30, 5), ("delete", 30, 6)))
    assert(
      emitted("a") == Seq(
        ("delete", 30, 1),
        ("delete", 30, 2),
        ("delete", 30, 3),
        ("insert", 33, 8),
        ("delete", 40, 4),
        ("delete", 40, 8),
        ("insert", 45, 11),
        ("delete", 60, 11)))
    assert(
      resized("KEEP EVERY 20 SECONDS", "KEEP EVERY 1 HOUR")("a")
        .map(_._1)
        .count(_ == "delete") == 0)
  }

  test("state is refused by what stands in it, even if its metadata is another's") {
    withTempDir { dir =>
      afterFirst { (checkpoint, stream) =>
        val otherStream = ticks()
        otherStream.addData(first)
        val other = keep(timed(otherStream), call.replace("2 ROWS", "3 SECONDS"))
        runAll(other, dir.getCanonicalPath)
        val metadata = "state/0/_metadata"
        FileUtils.deleteDirectory(new File(checkpoint, metadata))
        FileUtils.copyDirectory(new File(dir, metadata), new File(checkpoint, metadata))

        val error =
          failureOf(keep(timed(stream), call.replace("2 ROWS", "3 SECONDS")), checkpoint)
        assert(error.getMessage.contains("WINOPS_POLICY_CHANGED"))
        assert(error.getMessage.contains("KEEP 2 ROWS"))
      }
    }
  }

  test("the policy of a checkpoint can be read") {
    afterFirst { (checkpoint, _) =>
      val metadata = spark.read.format("state-metadata").load(checkpoint)
      val row = metadata.select("operatorName", "operatorProperties").head()
      assert(row.getString(0) == "keep")
      assert(row.getString(1).contains("\"policy\":\"KEEP 2 ROWS\""))
    }
  }

  private def change(row: Row): (String, Long, String, Int) = (
    row.getAs[String]("_change_type"),
    row.getAs[java.sql.Timestamp]("_change_time").getTime / 1000,
    row.getAs[String]("k"),
    row.getAs[Int]("n"))
}
