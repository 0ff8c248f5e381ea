package winops.spark.execution

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.{col, lit, timestamp_millis}

import winops.spark.plan.Application
import winops.spark.testing.{KeepStreamTest, Tick}
import winops.testing.TableTests

/** A window of one row for each key, which may run as a group for each key, has the changes of
  * the window over all keys. With the numbers of rows in the changes, it always runs as such.
  */
class GroupsByKeySuite extends KeepStreamTest with TableTests {
  import GroupsByKeySuite._
  import testImplicits._

  private lazy val rows: DataFrame = {
    val random = new Random(7)
    (0 until 600)
      .map { n =>
        val key = Seq(null, "a", "b", "c", "d")(random.nextInt(5))
        // Many rows are older than the one before.
        (random.nextInt(3), key, n * 100L + random.nextInt(400), n)
      }
      .toDF("g", "k", "ms", "n")
      .select(col("g"), col("k"), timestamp_millis(col("ms")).as("ts"), col("n"))
      .cache()
  }

  private def changes(arguments: String): Seq[Row] =
    keep(rows, arguments)
      .select("_change_type", "_change_time", "_change_reason", "g", "k", "ts", "n")
      .collect()
      .toSeq
      .sortBy(_.toString)

  private def contents(arguments: String): Seq[Row] =
    keep(rows, s"$arguments, output => 'rows'").collect().toSeq.sortBy(_.toString)

  testEach("the changes of the window over all keys", short = 2)(cases: _*) {
    case (_, text, time) =>
      val call = s"PARTITION BY (g) ORDER BY (n), esper => '$text'$time"
      val smaller = changes(s"$call, reason => true")
      assert(smaller == changes(s"$call, reason => true, row_id => true"))
      assert(smaller.exists(_.getString(0) == "insert"))
      // A group that is forgotten after an idle time has all keys too.
      assert(contents(call) == contents(s"$call, idle => '1000 days'"))
  }

  test("on a stream, too, whose groups are stored after each micro-batch") {
    val random = new Random(8)
    val batches = (0 until 4).map { batch =>
      (0 until 40).map { i =>
        Tick(s"key ${random.nextInt(9)}", batch * 10L + random.nextInt(10), batch * 40 + i)
      }
    }
    val stream = ticks()
    def changesOf(name: String, arguments: String): DataFrame = keep(
      timed(stream),
      "WITH SINGLE PARTITION ORDER BY (n), esper => '#time(7 sec)#unique(k)', " +
        s"time => 'ts', reason => true$arguments")
      .select(lit(name).as("groups"), $"_change_type", $"_change_time", $"_change_reason", $"n")
    val both = changesOf("of keys", "").union(changesOf("whole", ", row_id => true"))
    withTempDir { checkpoint =>
      val written = new Written
      (batches :+ Seq(Tick("last", 100, -1))).foreach { rows =>
        stream.addData(rows)
        runAll(both, checkpoint.getCanonicalPath, written)
      }
      def of(name: String): Seq[Seq[Any]] =
        written.rows.filter(_.getString(0) == name).map(_.toSeq.tail).sortBy(_.toString)
      assert(of("of keys").count(_.head == "delete") == 160)
      assert(of("of keys") == of("whole"))
    }
  }

  test("a punctuation is for all keys of a window without a group") {
    val call = "WITH SINGLE PARTITION ORDER BY (n), esper => '#unique(k)', punct => 'mark'"
    def numbered(arguments: String): Seq[Row] =
      keep(rows.selectExpr("*", "IF(n = 400, 'final', NULL) AS mark"), arguments)
        .select("_change_step", "_change_seq", "_change_type", "k", "n")
        .collect()
        .toSeq
        .sortBy(_.getLong(1))
    val changes = numbered(call)
    assert(changes.map(_.getLong(1)) == changes.indices.map(_.toLong))
    assert(changes.map(_.getInt(4)).max == 399)
    assert(changes == numbered(s"$call, row_id => true"))
    assert(numbered(s"$call, late => 'emit'").filterNot(_.isNullAt(1)) == changes)
  }

  test("a row in the order of arrival enters at the latest time of all keys") {
    val some = Seq(("a", 100L, 1), ("b", 50L, 2)).toDF("k", "ms", "n")
    val timed = some.select(col("k"), timestamp_millis(col("ms")).as("ts"), col("n"))
    val entered = keep(
      timed,
      "WITH SINGLE PARTITION ORDER BY (n), esper => '#unique(k)', time => 'ts', apply => 'arrival'")
    val times = entered.select("_change_time").distinct().as[java.sql.Timestamp].collect()
    assert(times.map(_.getTime).toSeq == Seq(100L))
  }
}

private object GroupsByKeySuite {
  private val windows = Seq(
    "#unique(k)#time(1 sec)",
    "#time(300 msec)#firstunique(k)",
    "#unique(k)#time_order(ts, 2 sec)",
    "#timetolive(ts)#firstunique(k)",
    "#keepall#unique(k)",
    "#unique(k)",
    "#firstunique(k)")

  /** The name of a case, the window, and the arguments for its time. */
  private val cases: Seq[(String, String, String)] = for {
    application <- Application.all
    window <- windows
  } yield (
    s"$window, ${application.name}",
    window,
    s", time => 'ts', apply => '${application.name}'")
}
