package winops.spark

import java.time.{Duration, Instant}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{Column, DataFrame, Row}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.functions._

import winops.{apama, esper, spl, Kept}
import winops.spark.testing.{KeepStreamTest, Tick}

/** The API for Scala and Java gives the rows of the same call in SQL. */
class KeepApiSuite extends KeepStreamTest {
  import testImplicits._

  private def rows: DataFrame =
    Seq(("a", 1, 10), ("b", 2, 20), ("a", 3, 30), ("a", 4, 40), ("b", 5, 50))
      .toDF("k", "n", "v")
      .withColumn("ts", timestamp_seconds($"n"))

  private def checkSame(df: DataFrame, arguments: String): Unit = {
    val ofSql = keep(rows, arguments)
    assert(df.schema == ofSql.schema, arguments)
    assert(
      df.collect().map(_.toString).sorted.toSeq == ofSql.collect().map(_.toString).sorted.toSeq)
  }

  private def refused(condition: String, part: String = "")(call: => Any): Unit = {
    val error = intercept[Exception](call)
    assert(error.asInstanceOf[SparkThrowable].getCondition == condition)
    assert(error.getMessage.contains(part), error.getMessage)
  }

  private val by = "PARTITION BY (k) ORDER BY (n)"

  test("each output has the rows and columns of the call in SQL") {
    val kept = winops.keep(rows, "KEEP 2 ROWS", per = "k", orderBy = "n")
    checkSame(kept.changes(), s"$by, 'KEEP 2 ROWS'")
    checkSame(kept.changes(reason = true), s"$by, 'KEEP 2 ROWS', reason => true")
    checkSame(kept.rows(), s"$by, 'KEEP 2 ROWS', output => 'rows'")
    checkSame(kept.snapshots(), s"$by, 'KEEP 2 ROWS', output => 'snapshots'")
    def agg(query: String) =
      s"$by, 'KEEP 2 ROWS', aggregates => TABLE(SELECT $query FROM input_of_keep)"
    checkSame(
      kept.agg(avg("v"), max("v").as("m")),
      agg("avg(v), max(v) AS m") + ", output => 'agg'")
    Seq("all", "latest", "changes").foreach { mode =>
      checkSame(kept.agg(mode, avg("v")), agg("avg(v)") + s", output => 'agg', mode => '$mode'")
    }
    checkSame(kept.withColumn("m", avg("v")), agg("avg(v) AS m") + ", output => 'withColumns'")
    assert(kept.inserts().count() == 5 && kept.deletes().count() == 1)
    val all = winops.keep(rows, "KEEP 2 ROWS", orderBy = "n")
    val query = "SELECT k, sum(v) FROM input_of_keep GROUP BY k"
    val ofParts =
      s"WITH SINGLE PARTITION ORDER BY (n), 'KEEP 2 ROWS', output => 'agg', aggregates => TABLE($query)"
    checkSame(all.groupBy("k").agg(sum("v")), ofParts)
    checkSame(all.groupBy($"k").agg(sum("v")), ofParts)
    assert(all.groupBy(upper($"k")).agg("latest", sum("v")).count() == 2)
    val events = winops.keep(rows, spl("tumbling, count(2)"), per = "k", orderBy = "n").events()
    checkSame(events, s"$by, spl => 'tumbling, count(2)', output => 'events'")
    val own = winops.keep(rows, esper("select sum(v) from S#length(2)"), orderBy = "n")
    assert(own.agg().columns.last == "sum(v)" && own.agg("latest").count() == 1)
  }

  test("a name, a column and lists of them are the same group and order") {
    val expected =
      winops.keep(rows, "KEEP 2 ROWS", per = "k", orderBy = "n").rows().collect().toSet
    val calls = Seq[Kept](
      winops.keep(rows, "KEEP 2 ROWS PER (k)", orderBy = $"n"),
      winops.keep(rows, "KEEP 2 ROWS", per = $"k", orderBy = $"n".asc),
      winops.keep(rows, "KEEP 2 ROWS", per = Seq("k"), orderBy = Seq("n")),
      winops.keep(
        rows,
        "KEEP 2 ROWS",
        per = List($"k".as("other")),
        orderBy = Seq($"n", $"v".desc)),
      winops.keep(rows, "KEEP 2 ROWS", per = upper($"k"), orderBy = $"n" + 1),
      winops.keep(
        rows.as[(String, Int, Int, java.sql.Timestamp)],
        rows = 2,
        per = "k",
        orderBy = "n"))
    val table = rows
    calls.foreach(kept => assert(kept.rows().collect().toSet == expected, kept))
    assert(
      winops
        .keep(table, rows = 2, per = table("k"), orderBy = table("n").asc)
        .rows()
        .collect()
        .toSet ==
        expected)
    val oldest = winops.keep(rows, "KEEP 1 ROW", orderBy = $"n".desc).rows()
    assert(oldest.select("n").as[Int].collect().toSeq == Seq(1))
    val odd = rows.toDF("a.b", "c`d", "v", "ts")
    assert(winops.keep(odd, rows = 1, per = "a.b", orderBy = "c`d").rows().count() == 2)
    val nested = rows.select(struct($"k").as("s"), $"n")
    assert(winops.keep(nested, rows = 1, per = $"s.k", orderBy = "n").rows().count() == 2)
  }

  test("keywords and options describe the window") {
    def said(kept: Kept, text: String): Unit = assert(kept.describe() == text)
    said(winops.keep(rows, rows = 2, slack = 3, orderBy = "n"), sentence("KEEP 2 ROWS SLACK 3"))
    said(winops.keep(rows, rows = 2, every = true, orderBy = "n"), sentence("KEEP EVERY 2 ROWS"))
    val ten = winops.keep(rows, "KEEP 10 MINUTES", time = "ts").describe()
    assert(ten.startsWith("Keeps each row for 10 minutes."))
    said(winops.keep(rows, interval = "10 minutes", time = "ts"), ten)
    said(winops.keep(rows, interval = 10.minutes, time = "ts"), ten)
    said(winops.keep(rows, interval = Duration.ofMinutes(10), time = "ts"), ten)
    val params = Map[String, Any]("n" -> 2)
    val span = Map[String, Any]("span" -> 10.minutes)
    said(winops.keep(rows, "KEEP \"span\"", params = span, time = "ts"), ten)
    said(
      winops.keep(rows, "KEEP n ROWS", params = params, orderBy = "n"),
      sentence("KEEP 2 ROWS"))
    said(winops.keep(rows, apama("retain 2"), orderBy = "n"), sentence("KEEP 2 ROWS"))
    val idle =
      winops.keep(rows, rows = 2, orderBy = "n", time = "ts", idle = 7.days, maxRows = 10)
    assert(idle.describe().contains("7 days"))
    val timed = winops.keep(
      rows,
      "KEEP EVERY 2 SECONDS",
      time = "ts",
      apply = "arrival",
      origin = Instant.EPOCH,
      onNullTime = "drop")
    checkSame(
      timed.changes(),
      ", 'KEEP EVERY 2 SECONDS', time => 'ts', apply => 'arrival', origin => 0, on_null_time => 'drop'")
    checkSame(
      winops.keep(rows, "KEEP EVERY 2 SECONDS", time = "ts", origin = "first").changes(),
      ", 'KEEP EVERY 2 SECONDS', time => 'ts', origin => 'first'")
    assert(timed.toString.startsWith("Kept[KEEP EVERY 2 SECONDS, apply = (arrival)"))
  }

  private def sentence(policy: String): String =
    winops.keep(rows, policy, orderBy = "n").describe()

  test("several windows share the rows") {
    val windows = Seq("last" -> "KEEP 1 ROW", "all" -> "KEEP ALL")
    val expected =
      s"ORDER BY (n), windows => named_struct('last', 'KEEP 1 ROW', 'all', 'KEEP ALL')"
    val map = windows.toMap
    Seq(winops.keep(rows, windows, orderBy = "n"), winops.keep(rows, map, orderBy = "n"))
      .foreach { kept =>
        checkSame(kept.changes(), s"WITH SINGLE PARTITION $expected")
        val columns: Map[String, (String, Column)] =
          Map("x" -> ("last" -> max("v")), "y" -> ("all" -> min("v")))
        val found =
          kept.withColumns(columns).orderBy("n").select("x", "y").as[(Int, Int)].collect()
        assert(found.toSeq == Seq(10 -> 10, 20 -> 10, 30 -> 10, 40 -> 10, 50 -> 10))
        refused("WINOPS_ARGUMENT.VALUE", "several windows")(kept.rows())
      }
    val ofEsper = Seq("one" -> esper("#length(1)"), "two" -> esper("#length(2)"))
    assert(winops.keep(rows, ofEsper, orderBy = "n").describe().contains("window two keeps"))
    refused("WINOPS_ARGUMENT.VALUE", "one language") {
      winops.keep(rows, Seq("one" -> esper("#length(1)"), "two" -> spl("sliding, count(2)")))
    }
    refused("WINOPS_ARGUMENT.VALUE")(winops.keep(rows, Map.empty[String, String]))
  }

  test("a wrong call is refused at once, with the condition of SQL") {
    refused("WINOPS_ARGUMENT.MISSING", "KEEP ALL")(winops.keep(rows))
    refused("WINOPS_ARGUMENT.MISSING")(winops.keep(rows, rows = 1, interval = "1 hour"))
    refused("WINOPS_ARGUMENT.DUPLICATE")(winops.keep(rows, "KEEP ALL", rows = 1))
    refused("WINOPS_ARGUMENT.UNKNOWN")(winops.keep(rows, interval = "1 hour", slack = 2))
    refused("WINOPS_ARGUMENT.UNKNOWN")(winops.keep(rows, rows = 1, params = Map("n" -> 1)))
    refused("WINOPS_ARGUMENT.VALUE", "empty")(
      winops.keep(rows, rows = 1, per = Seq.empty[String]))
    refused("WINOPS_ARGUMENT.VALUE", "per")(winops.keep(rows, rows = 1, per = $"k".desc))
    refused("WINOPS_ARGUMENT.VALUE")(winops.keep(rows, rows = 1, params = null, maxRows = 0))
    refused("WINOPS_ARGUMENT.VALUE")(winops.keep(rows, "KEEP n ROWS", params = Map("n" -> rows)))
    refused("WINOPS_ARGUMENT.VALUE", "apply") {
      winops.keep(rows, "KEEP 1 HOUR", time = "ts", apply = "late")
    }
    refused("WINOPS_UNKNOWN_COLUMN", "no column nope, which PARTITION BY") {
      winops.keep(rows, rows = 1, per = "nope")
    }
    refused("WINOPS_UNKNOWN_COLUMN", "no column n desc, which ORDER BY") {
      winops.keep(rows, rows = 1, orderBy = "n desc")
    }
    refused("WINOPS_ARGUMENT.UNKNOWN", "keyColumns only names columns for a warning") {
      winops.keep(rows, rows = 1, op = "k", keyColumns = Seq("n"), orderBy = "n")
    }
    refused("WINOPS_UNKNOWN_COLUMN", "nope")(winops.keep(rows, rows = 1, orderBy = $"nope"))
    val kept = winops.keep(rows, rows = 1, orderBy = "n")
    refused("WINOPS_ARGUMENT.MISSING")(kept.withColumns(Map.empty[String, Column]))
    refused("WINOPS_ARGUMENT.MISSING")(kept.groupBy())
    refused("WINOPS_ARGUMENT.MISSING")(kept.agg())
    refused("WINOPS_ARGUMENT.VALUE", "mode")(kept.agg("update", avg("v")))
    refused("WINOPS_NO_EVENTS")(kept.events())
    Seq("KEEP -1 ROWS", "KEEP ROWS").foreach { text =>
      assert(
        intercept[SparkThrowable](winops.keep(rows, text)).getCondition
          .startsWith("WINOPS_POLICY"))
    }
    assert(
      intercept[SparkThrowable](winops.keep(rows, rows = 0)).getCondition
        .startsWith("WINOPS_POLICY"))
  }

  test("a session without the extension is told how to get it") {
    val without = spark.newSession()
    val registry = without.asInstanceOf[org.apache.spark.sql.classic.SparkSession].sessionState
    registry.catalog.dropTempFunction("keep", ignoreIfNotExists = true)
    registry.tableFunctionRegistry.dropFunction(FunctionIdentifier("keep"))
    val ids = without.range(3).toDF("id")
    refused("WINOPS_SESSION", "spark.sql.extensions")(winops.keep(ids, rows = 1, orderBy = "id"))
  }

  test("a group that contains the primary key is logged") {
    val appender = new LogAppender("warnings")
    withLogAppender(appender) {
      winops.keep(rows, "KEEP 2 ROWS PER (n)", orderBy = "n", keyColumns = Seq("n"))
      winops.keep(rows, rows = 2, per = $"n", orderBy = "n", keyColumns = Seq("n"))
      winops.keep(rows, rows = 2, per = "k", orderBy = "n", keyColumns = Seq("n"))
    }
    val logged = appender.loggingEvents.map(_.getMessage.getFormattedMessage)
    assert(logged.count(_.contains("every group can hold one row only")) == 2)
  }

  test("a key without op beside a column that seems to be one is logged") {
    val appender = new LogAppender("warnings")
    withLogAppender(appender) {
      winops.keep(rows.withColumn("_OP", $"k"), rows = 1, key = Seq("n"), orderBy = "n")
      winops.keep(rows.withColumn("op", $"k"), rows = 1, key = Seq("n"), op = "op", orderBy = "n")
      winops.keep(rows.withColumn("op", $"v"), rows = 1, key = Seq("n"), orderBy = "n")
      winops.keep(rows.withColumn("op", $"k"), rows = 1, orderBy = "n")
    }
    val logged = appender.loggingEvents.map(_.getMessage.getFormattedMessage)
    assert(logged.filter(_.contains("an upsert")).count(_.contains("op='_OP'")) == 1)
    assert(logged.count(_.contains("an upsert")) == 1)
  }

  test("a change feed without op is told to give it") {
    val feed = rows.withColumn("_change_type", $"k")
    refused("WINOPS_COLUMN_CONFLICT", "give op='_change_type'") {
      winops.keep(feed, rows = 1, key = Seq("n"), orderBy = "n")
    }
    refused("WINOPS_COLUMN_CONFLICT", "Rename or drop it") {
      winops.keep(feed, rows = 1, orderBy = "n")
    }
    refused("WINOPS_COLUMN_CONFLICT", "Rename or drop it") {
      winops.keep(feed.withColumn("_change_type", $"v"), rows = 1, key = Seq("n"), orderBy = "n")
    }
    winops.keep(feed, rows = 1, key = Seq("n"), op = "_change_type", orderBy = "n")
  }

  test("a stream goes on from the checkpoint of the same call in SQL, and in Scala") {
    withTempDir { folder =>
      val checkpoint = folder.getCanonicalPath + "/checkpoint"
      val stream = ticks()
      def ofScala = winops.keep(timed(stream), "KEEP 2 ROWS PER (k)", orderBy = "n")
      stream.addData(Tick("a", 1, 1), Tick("a", 2, 2), Tick("b", 3, 3))
      assert(runAll(ofScala.changes(), checkpoint).rows.size == 3)
      assert(winops.readState(spark, checkpoint).count() == 3)
      stream.addData(Tick("a", 4, 4))
      val ofSql = keep(timed(stream), "WITH SINGLE PARTITION ORDER BY (n), 'KEEP 2 ROWS PER (k)'")
      assert(runAll(ofSql, checkpoint).rows.size == 2)
      val moved = s"$folder/moved"
      assert(JavaCalls.state(spark, checkpoint, moved).toSeq == Seq(3L, 3L, 3L))
      assert(winops.readState(spark, checkpoint, batch = 0, operator = 0).count() == 3)
      assert(JavaCalls.forgotten(spark, moved, s"$folder/without").toSeq == Seq(1L, 0L))
      assert(winops.readState(spark, s"$folder/without/all").count() == 1)
      stream.addData(Tick("a", 5, 5))
      val last = runAll(ofScala.deletes(), moved).rows
      assert(last.map(_.getAs[Int]("n")) == Seq(2))
      refused("WINOPS_ROWS_ON_STREAM")(ofScala.rows())
    }
  }

  test("a stream waits for the watermark and flushes at the end") {
    val stream = ticks()
    stream.addData(Tick("a", 1, 1), Tick("a", 30, 2))
    val kept = winops.keep(timed(stream), "KEEP 10 SECONDS", time = "ts", atEnd = "flush")
    withTempDir { folder =>
      val written = new Written
      val query = kept
        .changes()
        .writeStream
        .option("checkpointLocation", folder.getCanonicalPath)
        .trigger(org.apache.spark.sql.streaming.Trigger.AvailableNow())
        .foreachBatch((batch: DataFrame, id: Long) => written.add(id, batch.collect().toSeq))
        .start()
      query.awaitTermination()
      assert(
        written.rows.map(_.getAs[String]("_change_type")) == Seq("insert", "delete", "insert"))
    }
  }

  test("Java calls every function") {
    JavaCalls.calls(rows).asScala.foreach { case (text, kept) => assert(kept.describe() == text) }
    val outputs = JavaCalls.outputs(rows).asScala
    val kept = winops.keep(rows, "KEEP 2 ROWS", orderBy = "n")
    def texts(df: DataFrame): Seq[String] =
      df.collect().map((row: Row) => row.toString).toSeq.sorted
    val expected = Map(
      "changes" -> kept.changes(reason = true),
      "inserts" -> kept.inserts(),
      "deletes" -> kept.deletes(),
      "rows" -> kept.rows(),
      "agg" -> kept.agg(avg("n"), max("n")),
      "agg of a mode" -> kept.agg("latest", avg("n")),
      "groupBy" -> kept.groupBy("k").agg("latest", count("*"), max("n")),
      "groupBy of columns" -> kept.groupBy("k").agg(count("*")),
      "withColumns" -> kept.withColumn("mean", avg("n")),
      "withColumn" -> kept.withColumns(Map("mean" -> avg("n"))),
      "snapshots" -> kept.snapshots(10),
      "lookup" -> winops
        .keep(rows, "KEEP 2 ROWS", per = "k", orderBy = "n", time = "ts")
        .lookup(rows.select("k", "ts"), Map("mean" -> avg("n"))),
      "asofJoin" -> winops.asofJoin(rows.select("k", "ts"), rows, on = "ts", by = Seq("k")))
    expected.foreach { case (name, df) => assert(texts(outputs(name)) == texts(df), name) }
    val means =
      Seq("windows", "windows of Esper").map(outputs(_).select("mean").as[Double].collect())
    means.foreach(found => assert(found.sorted.toSeq == Seq(1.0, 2.0, 3.0, 4.0, 5.0)))
  }
}
