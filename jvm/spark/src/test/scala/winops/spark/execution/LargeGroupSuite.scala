package winops.spark.execution

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream

import winops.spark.state.EntryNumbers
import winops.spark.testing.{KeepStreamTest, Tick}
import winops.storage.rows.RowLog
import winops.testing.TableTests

/** Groups of more rows than one value in the state can hold. */
class LargeGroupSuite extends KeepStreamTest with TableTests {
  import testImplicits._

  private def changes(rows: Seq[Row], kind: String): Seq[Int] =
    rows.filter(_.getAs[String]("_change_type") == kind).map(_.getAs[Int]("n"))

  private def few(stream: MemoryStream[Tick], policy: String): DataFrame =
    keep(stream.toDF(), s"PARTITION BY (k), '$policy'")

  testEach("a window of many rows, over restarts", short = 1)(10000, 100000) { size =>
    val stream = ticks()
    val batch = size * 3 / 10
    withTempDir { dir =>
      val written = (0 until 4).map { i =>
        stream.addData((i * batch until (i + 1) * batch).map(n => Tick("a", 0, n)))
        runAll(few(stream, s"KEEP $size ROWS"), dir.getCanonicalPath)
      }
      val inserts = written.flatMap(w => changes(w.rows, "insert"))
      assert(inserts == (0 until 4 * batch))
      assert(written.init.forall(w => changes(w.rows, "delete").isEmpty))
      assert(changes(written.last.rows, "delete") == (0 until 4 * batch - size))
      val sequence = written.flatMap(_.rows.map(_.getAs[Long]("_change_seq")))
      assert(sequence == (0L until 8L * batch - size))
    }
  }

  test("the state of a group is a part of a bucket, and runs of rows under its key") {
    val firstRun = EntryNumbers.FirstWindowSegment + RowLog.FirstRun
    val stream = ticks()
    withTempDir { dir =>
      val checkpoint = dir.getCanonicalPath
      def segments(k: String): Seq[Long] = spark.read
        .format("statestore")
        .load(checkpoint)
        .where(if (k == null) "key.k IS NULL" else s"key.k = '$k'")
        .select("key._segment")
        .as[Long]
        .collect()
        .toSeq
        .sorted
      stream.addData((0 until 1000).map(n => Tick("a", 0, n)) :+ Tick("b", 0, 1))
      runAll(few(stream, "KEEP 900 ROWS SLACK 900"), checkpoint)
      assert(segments("b").isEmpty)
      // A window that only fills has runs of 16 rows, and the group's own value at most 256 rows.
      assert(segments("a") == (0L until 752L by 16L).map(firstRun + _))
      assert(segments(null).forall(_ <= 0), "buckets, and what belongs to no group")

      stream.addData((1000 until 1800).map(n => Tick("a", 0, n)))
      val written = runAll(few(stream, "KEEP 900 ROWS SLACK 900"), checkpoint)
      assert(changes(written.rows, "delete") == (0 until 900))
      // Row 900 is in the run of row 896; the runs before it are deleted.
      assert(segments("a").head == firstRun + 896)
    }
  }

  test("a group with a null key and a column named as the segment's does no harm") {
    val stream = ticks()
    withTempDir { dir =>
      val df = stream.toDF().selectExpr("NULLIF(k, 'x') AS _segment", "n")
      def kept = keep(df, "PARTITION BY (_segment), 'KEEP 300 ROWS'")
      val rows = (0 until 700).map(n => Tick(if (n % 2 == 0) "x" else "y", 0, n))
      stream.addData(rows.take(400))
      runAll(kept, dir.getCanonicalPath)
      stream.addData(rows.drop(400))
      val written = runAll(kept, dir.getCanonicalPath)
      assert(changes(written.rows, "delete").sorted == (0 until 100))
      val keys = spark.read.format("statestore").load(dir.getCanonicalPath).select("key.*")
      assert(keys.columns.toSeq == Seq("_hash", "_segment", "__segment"))
    }
  }

  test("rows that wait are many as well") {
    val stream = ticks()
    val kept = keep(timed(stream), "PARTITION BY (k) ORDER BY (n), 'KEEP 500 ROWS', time => 'ts'")
    withTempDir { dir =>
      val written = new Written
      (1 to 3).foreach { i =>
        stream.addData((0 until 2000).map(n => Tick("a", 1000L, i * 10000 - n)))
        runAll(kept, dir.getCanonicalPath, written)
      }
      assert(written.rows.isEmpty)
      stream.addData(Tick("b", 2000, 0))
      runAll(kept, dir.getCanonicalPath, written)
      val expected = (1 to 3).flatMap(i => (i * 10000 - 1999) to i * 10000)
      assert(changes(written.rows, "insert") == expected)
      assert(changes(written.rows, "delete") == expected.dropRight(500))
    }
  }
}
