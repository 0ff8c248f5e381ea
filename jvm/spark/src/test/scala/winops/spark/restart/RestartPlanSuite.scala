package winops.spark.restart

import java.io.File

import scala.util.Random

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.expressions.UserDefinedFunction
import org.apache.spark.sql.functions.udf

import winops.withHistory
import winops.spark.testing.{KeepStreamTest, Tick}
import winops.testing.TableTests

/** The plan of a restart, shown before the query runs, and confirmed. */
class RestartPlanSuite extends KeepStreamTest with TableTests {
  import KeepStreamTest.{changelog, formatTwo, hdfs, rocksDb}
  import testImplicits._

  private val call = "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS', time => 'ts'"
  private val over = "OVER (PARTITION BY k ORDER BY ts, n ROWS 2 PRECEDING)"

  private val first = Seq(Tick("a", 1, 1), Tick("a", 2, 2), Tick("b", 3, 3), Tick("c", 60, 4))

  private def aggregates(df: DataFrame, functions: String*): DataFrame = keep(
    df,
    s"$call, output => 'agg', aggregates => TABLE(SELECT ${functions.mkString(", ")} FROM input_of_keep)")

  private def functions(df: DataFrame, some: String*): DataFrame = {
    df.createOrReplaceTempView("input_of_over")
    spark.sql(s"SELECT *, ${some.map(f => s"$f $over").mkString(", ")} FROM input_of_over")
  }

  private def after(query: DataFrame => DataFrame)(
      body: (String, MemoryStream[Tick]) => Unit): Unit = withTempDir { folder =>
    val stream = ticks()
    stream.addData(first)
    val _ = runAll(query(timed(stream)), folder.getCanonicalPath)
    stream.addData(Tick("a", 100, 100))
    body(folder.getCanonicalPath, stream)
  }

  private def outcomes(plan: Seq[Row]): Seq[(String, String)] =
    plan.map(row => row.getAs[String]("subject") -> row.getAs[String]("outcome"))

  test("the query of the checkpoint continues") {
    Seq[DataFrame => DataFrame](
      keep(_, call),
      aggregates(_, "avg(n)", "max(n + 1 + 1)"),
      functions(_, "sum(n)", "avg(coalesce(n, 1 + 1))")).foreach { query =>
      after(query) { (checkpoint, stream) =>
        val plan = restartPlanOf(query(timed(stream)), checkpoint)
        assert(outcomes(plan) == Seq("whole state" -> "continues"))
        assert(plan.head.getAs[Long]("groups") == 0)
      }
    }
  }

  test("each difference has an outcome, and the whole state a cost") {
    after(keep(_, call)) { (checkpoint, stream) =>
      val wider = timed(stream).withColumn("more", $"n" * 2).select("more", "ts", "n", "k")
      val plan = restartPlanOf(aggregates(wider, "avg(n)"), checkpoint)
      assert(
        outcomes(plan) == Seq(
          "whole state" -> "is rebuilt",
          "column more" -> "is rebuilt",
          "order of the columns" -> "is rebuilt",
          "aggregate avg(n)" -> "is rebuilt"))
      val cost = Seq("groups", "rows", "bytes").map(plan.head.getAs[Long])
      assert(cost.take(2) == Seq(3, 4) && cost(2) > 100)
      assert(plan.map(_.getAs[String]("plan")).distinct.size == 1)
    }
  }

  testEach("the cost has the bytes of the files that a start reads", short = 2)(
    "HDFS" -> Seq(hdfs),
    "RocksDB with changelog and format 2" -> Seq(rocksDb, changelog, formatTwo),
    "RocksDB" -> Seq(rocksDb),
    "RocksDB with changelog" -> Seq(rocksDb, changelog)) { case (_, settings) =>
    withSQLConf(settings: _*) {
      after(wide(keep(_, call))) { (checkpoint, stream) =>
        val plan = restartPlanOf(wide(aggregates(_, "avg(n)"))(timed(stream)), checkpoint)
        assert(plan.head.getAs[Long]("rows") == 4)
        val bytes = plan.head.getAs[Long]("bytes")
        assert(
          bytes > 4 * RestartPlanSuite.Incompressible && bytes <= bytesOf(
            new File(checkpoint, "state")))
      }
    }
  }

  /** The query with a column of bytes that no store can compress. */
  private def wide(query: DataFrame => DataFrame)(df: DataFrame): DataFrame = {
    query(df.withColumn("filler", RestartPlanSuite.filler($"n")))
  }

  private def bytesOf(file: File): Long =
    if (file.isDirectory) file.listFiles.map(bytesOf).sum
    else file.length

  test("what needs history, or is refused, says what to do") {
    after(functions(_, "sum(n)")) { (checkpoint, stream) =>
      val plan = restartPlanOf(keep(timed(stream), call), checkpoint)
      assert(outcomes(plan).map(_._2) == Seq("is refused", "is refused"))
      timed(stream).createOrReplaceTempView("input_of_over")
      val running =
        spark.sql("SELECT *, max(n) OVER (PARTITION BY k ORDER BY ts, n) FROM input_of_over")
      val needing = restartPlanOf(running, checkpoint)
      assert(outcomes(needing).head._2 == "needs history")
      assert(needing(1).getAs[String]("remedy").contains("with_history"))
    }
  }

  test("another cross-group window needs a table, and on_change is not advised") {
    def of(rows: Int)(df: DataFrame): DataFrame = keep(
      df,
      "PARTITION BY (k) ORDER BY (n), time => 'ts', " +
        s"spl => 'sliding, count($rows), partitioned, partitionCount(2)'")
    after(of(2)) { (checkpoint, stream) =>
      val plan = restartPlanOf(of(3)(timed(stream)), checkpoint)
      assert(outcomes(plan) == Seq("whole state", "policy").map(_ -> "needs history"))
      val policy = plan.last
      assert(policy.getAs[String]("because").contains("share state"))
      assert(policy.getAs[String]("remedy").contains("with_history"))
      assert(!policy.getAs[String]("remedy").contains("on_change"))
    }
  }

  testEach("another idle time continues, and reads and writes every group", short = 2)(
    ("added", "", "9 days"),
    ("removed", "9 days", ""),
    ("shorter", "9 days", "8 days")) { case (_, before, now) =>
    def of(idle: String): DataFrame => DataFrame =
      df => keep(df, if (idle.isEmpty) call else s"$call, idle => '$idle'")
    after(of(before)) { (checkpoint, stream) =>
      val other = restartPlanOf(of(now)(timed(stream)), checkpoint)
      assert(outcomes(other) == Seq("whole state" -> "continues"))
      assert(Seq("groups", "rows").map(other.head.getAs[Long]) == Seq(3, 4))
      assert(other.head.getAs[String]("because").contains("every group"))
      val same = restartPlanOf(of(before)(timed(stream)), checkpoint).head
      assert(same.getAs[Long]("groups") == 0)
      assert(same.getAs[String]("because") == "The query is that of the checkpoint.")
    }
  }

  /** A keep over the rows that another one inserts. */
  private def chain(lower: String, upper: String)(df: DataFrame): DataFrame = {
    val below = keep(df, s"PARTITION BY (k) ORDER BY ($lower), 'KEEP 9 ROWS', time => 'ts'")
      .filter($"_change_type" === "insert")
      .selectExpr("k", "_change_time AS ts", "n AS seq")
    keep(below, s"PARTITION BY (k) ORDER BY ($upper), 'KEEP 2 ROWS', time => 'ts'")
  }

  test("an operator above another one has no table, and the plan and the error say what to do") {
    after(chain("n", "seq")) { (checkpoint, stream) =>
      val now = chain("n DESC", "seq DESC")(withHistory(timed(stream), withTime(first.toDF())))
      val plan = restartPlanOf(now, checkpoint)
      val (upper, lower) = plan.partition(_.getAs[String]("remedy").nonEmpty)
      assert(upper.map(_.getAs[String]("subject")) == Seq("order"))
      val operator = upper.head.getAs[Long]("operator")
      assert(upper.head.getAs[String]("remedy").contains("only the first operator"))
      val wholes = plan
        .filter(_.getAs[String]("subject") == "whole state")
        .map { row =>
          (row.getAs[Long]("operator") == operator) -> row.getAs[String]("because")
        }
        .toMap
      assert(lower.exists(_.getAs[String]("subject") == "order"))
      assert(!wholes(true).contains("with_history"))
      assert(wholes.values.forall(_.startsWith("The query fails in its first micro-batch")))
      val error = failureOf(now, checkpoint)
      assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"))
      assert(error.getMessage.contains("only the first operator"))
      assert(!error.getMessage.contains("upply all rows"))
      // The former query goes on.
      assert(runAll(chain("n", "seq")(timed(stream)), checkpoint).rows.nonEmpty)
    }
    // A change of the lower operator alone is supplied.
    after(chain("n", "seq")) { (checkpoint, stream) =>
      val now = chain("n DESC", "seq")(withHistory(timed(stream), withTime(first.toDF())))
      val plan = restartPlanOf(now, checkpoint)
      assert(plan.forall(!_.getAs[String]("because").contains("fails")))
      assert(runAll(now, checkpoint).rows.nonEmpty)
    }
  }

  test("a new checkpoint with the output of the table supplies each operator of a chain") {
    val more = Seq(Tick("a", 100, 100), Tick("b", 101, 101))
    val last = Seq(Tick("c", 300, 300))
    def states(table: Option[Seq[Tick]]): Seq[Seq[String]] = {
      var found = Seq.empty[Seq[String]]
      withTempDir { folder =>
        val stream = ticks()
        val batches = Seq(more, last)
        (if (table.isEmpty) first +: batches else batches).foreach { batch =>
          stream.addData(batch)
          val rows = table.fold(timed(stream)) { history =>
            withHistory(timed(stream), withTime(history.toDF()), "all")
          }
          runAll(chain("n DESC", "seq DESC")(rows), folder.getCanonicalPath)
        }
        found = Seq(0, 1).map { number =>
          winops
            .readState(spark, folder.getCanonicalPath, operator = number)
            .drop("_partition", "_row")
            .collect()
            .map(_.toString)
            .sorted
            .toSeq
        }
      }
      found
    }
    val expected = states(None)
    assert(expected.forall(_.nonEmpty))
    assert(states(Some(first)) == expected)
  }

  test("nothing is run, and nothing is changed") {
    after(keep(_, call)) { (checkpoint, stream) =>
      val _ = restartPlanOf(aggregates(timed(stream), "avg(n)"), checkpoint)
      val changes = runAll(keep(timed(stream), call), checkpoint).rows
      assert(changes.nonEmpty)
    }
  }

  test("a table has no plan of a restart") {
    after(keep(_, call)) { (checkpoint, _) =>
      val error = intercept[AnalysisException] {
        restartPlanOf(keep(withTime(first.toDF()), call), checkpoint)
      }
      assert(error.getCondition == "WINOPS_ARGUMENT.VALUE")
    }
  }

  test("a changed query runs only if its plan is confirmed") {
    after(keep(_, call)) { (checkpoint, stream) =>
      withSQLConf(RestartSettings.Confirm -> "true") {
        assert(runAll(keep(timed(stream), call), checkpoint).rows.nonEmpty)
        stream.addData(Tick("a", 200, 200))
        val changed = aggregates(timed(stream), "avg(n)")
        val error = failureOf(changed, checkpoint)
        assert(conditionsOf(error).contains("WINOPS_RESTART_UNCONFIRMED"))
        val hash = restartPlanOf(changed, checkpoint).head.getAs[String]("plan")
        assert(error.getMessage.contains(hash))
        withSQLConf(RestartSettings.Plan -> hash) {
          assert(runAll(changed, checkpoint).rows.nonEmpty)
        }
        stream.addData(Tick("a", 300, 300))
        assert(runAll(changed, checkpoint).rows.nonEmpty)
      }
    }
  }

  private val (changed, other, same) =
    (Option("n * 2 AS changed"), Option("n * 3 AS tripled"), Option.empty[String])

  testEach(
    "one plan confirms all operators of a query, whichever of them have changed",
    short = 2)(
    ("both of a union", false, changed, other),
    ("the second of a chain", true, same, other),
    ("both of a chain", true, changed, other),
    ("the first of a chain", true, changed, same),
    ("the first of a union", false, changed, same),
    ("the second of a union", false, same, other)) { case (_, isChain, first, second) =>
    def union(first: Option[String], second: Option[String])(df: DataFrame): DataFrame =
      Seq(first, second)
        .map { more =>
          val column = more.getOrElse("n AS more")
          keep(df.selectExpr("k", "ts", "n", column), call).select("_change_seq", "k", "n")
        }
        .reduce(_ union _)
    def chain(first: Option[String], second: Option[String])(df: DataFrame): DataFrame = {
      val rows = df.selectExpr("k", "ts", "n", first.getOrElse("n AS more"))
      val below = keep(rows, call)
        .filter($"_change_type" === "insert")
        .selectExpr("k", "_change_time AS ts", "n AS seq", second.getOrElse("n AS other"))
      keep(below, "PARTITION BY (k) ORDER BY (seq), 'KEEP 2 ROWS', time => 'ts'")
    }
    def query(first: Option[String], second: Option[String])(df: DataFrame): DataFrame =
      if (isChain) chain(first, second)(df) else union(first, second)(df)
    after(query(None, None)) { (checkpoint, stream) =>
      val now = query(first, second)(timed(stream))
      val rows = restartPlanOf(now, checkpoint)
      val plans = rows.map(_.getAs[String]("plan")).distinct
      assert(plans.size == 1)
      val outcomesOf = rows.groupMap(_.getAs[Long]("operator"))(_.getAs[String]("outcome"))
      assert(outcomesOf.keySet == Set(0, 1))
      withSQLConf(RestartSettings.Confirm -> "true") {
        val error = failureOf(now, checkpoint)
        assert(conditionsOf(error).contains("WINOPS_RESTART_UNCONFIRMED"))
        withSQLConf(RestartSettings.Plan -> plans.head) {
          stream.addData(Tick("a", 300, 300))
          assert(runAll(now, checkpoint).rows.nonEmpty)
        }
      }
    }
    // Without the plan of the whole query, each error names what is to be added.
    after(query(None, None)) { (checkpoint, stream) =>
      val now = query(first, second)(timed(stream))
      withSQLConf(RestartSettings.Confirm -> "true") {
        val confirmed = Iterator.iterate("") { plan =>
          withSQLConf(RestartSettings.Plan -> plan) {
            val error = failureOf(now, checkpoint)
            s"set ${RestartSettings.Plan} to ([0-9a-f, ]+)".r
              .findFirstMatchIn(error.getMessage)
              .get
              .group(1)
          }
        }
        val plan = confirmed.drop(Seq(first, second).count(_.isDefined)).next()
        withSQLConf(RestartSettings.Plan -> plan) {
          assert(runAll(now, checkpoint).rows.nonEmpty)
        }
      }
    }
  }
}

private object RestartPlanSuite {
  val Incompressible = 20000

  val filler: UserDefinedFunction = udf((n: Int) => new Random(n).nextBytes(Incompressible))
}
