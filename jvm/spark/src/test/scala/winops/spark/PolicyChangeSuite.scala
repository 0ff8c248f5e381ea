package winops.spark

import java.io.File

import org.apache.commons.io.FileUtils

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.lit

/** A checkpoint that another `keep` wrote, and what a restart may change. */
class PolicyChangeSuite extends KeepStreamTest {
  import testImplicits._

  private val call =
    "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS', time => 'ts', apply => 'arrival'"

  private val first = Seq(Tick("a", 1, 1), Tick("a", 2, 2), Tick("b", 3, 3))

  /** Runs a first batch, and adds a row for the query that goes on with its checkpoint. */
  private def afterFirst(body: (String, MemoryStream[Tick]) => Unit): Unit =
    withTempDir { dir =>
      val stream = ticks()
      stream.addData(first)
      runAll(keep(timed(stream), call), dir.getCanonicalPath)
      stream.addData(Tick("a", 100, 100))
      body(dir.getCanonicalPath, stream)
    }

  private val changes = Seq[(String, String, DataFrame => DataFrame)](
    ("policy", "KEEP 3 ROWS", keep(_, call.replace("2 ROWS", "3 ROWS"))),
    ("order", "DESC", keep(_, call.replace("(n)", "(n DESC)"))),
    ("group", "n", keep(_, call.replace("(k)", "(n)"))),
    ("group", "substring", keep(_, call.replace("(k)", "(substring(k, 1, 1))"))),
    ("apply", "event_time", keep(_, call.replace("arrival", "event_time"))),
    ("columns", "extra", df => keep(df.withColumn("extra", lit(1)), call)),
    ("columns", "m", df => keep(df.withColumnRenamed("n", "m"), call.replace("(n)", "(m)"))),
    ("columns", "string", df => keep(df.withColumn("n", $"n".cast("string")), call)))

  changes.foreach { case (field, told, change) =>
    test(s"another $field is refused, and both are told ($told)") {
      afterFirst { (checkpoint, stream) =>
        val error = failureOf(change(timed(stream)), checkpoint)
        assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"))
        val now = error.getMessage.linesIterator.find(_.startsWith("In this query:"))
        val before = error.getMessage.linesIterator.find(_.startsWith("In the checkpoint:"))
        assert(now.exists(line => line.contains(s"$field = ") && line.contains(told)))
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
      failureOf(keep(timed(stream), call.replace("2 ROWS", "3 ROWS")), checkpoint)
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
      val told = runAll(keep(timed(stream), s"$call, idle => '10 seconds'"), checkpoint)
      assert(
        told.rows.map(change).toSet == Set(
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
    }
  }

  test("state is refused by what stands in it, even if its metadata is another's") {
    withTempDir { dir =>
      afterFirst { (checkpoint, stream) =>
        val otherStream = ticks()
        otherStream.addData(first)
        val other = keep(timed(otherStream), call.replace("2 ROWS", "3 ROWS"))
        runAll(other, dir.getCanonicalPath)
        val metadata = "state/0/_metadata"
        FileUtils.deleteDirectory(new File(checkpoint, metadata))
        FileUtils.copyDirectory(new File(dir, metadata), new File(checkpoint, metadata))

        val error = failureOf(keep(timed(stream), call.replace("2 ROWS", "3 ROWS")), checkpoint)
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
