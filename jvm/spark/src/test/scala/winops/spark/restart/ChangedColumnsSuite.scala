package winops.spark.restart

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream

import winops.spark.testing.{KeepStreamTest, Tick}

/** Restarts with input columns of other types and names: stored values are kept as they are, or
  * the restart is refused.
  */
class ChangedColumnsSuite extends KeepStreamTest {
  private val call = "PARTITION BY (k) ORDER BY (n), 'KEEP 1 ROWS', time => 'ts'"

  /** Starts a query with the column `before`, then one with the column `now` instead.
    *
    * @param check
    *   gets the plan of the restart, and runs the second query when it calls the argument
    */
  private def restarted(before: String, now: String)(
      check: (Seq[Row], () => Seq[Row]) => Unit): Unit = withClue(s"$before -> $now: ") {
    withTempDir { folder =>
      val checkpoint = folder.getCanonicalPath
      val stream = ticks()
      def query(column: String): DataFrame =
        keep(timed(stream).selectExpr("k", "ts", "n", column), call)
      stream.addData(Tick("a", 1, 1))
      val _ = runAll(query(before), checkpoint)
      val plan = restartPlanOf(query(now), checkpoint)
      check(plan, () => after(stream, query(now), checkpoint))
    }
  }

  private def after(stream: MemoryStream[Tick], query: DataFrame, checkpoint: String) = {
    // The second row moves the watermark past the first.
    stream.addData(Tick("a", 100, 2), Tick("b", 200, 3))
    runAll(query, checkpoint).rows
  }

  private def outcomes(plan: Seq[Row]): Seq[String] = plan.map(_.getAs[String]("outcome"))

  /** The value that the second query deletes, as SQL prints it. */
  private def deleted(rows: Seq[Row], column: String): String =
    rows.filter(_.getAs[String]("_change_type") == "delete").map(_.getAs[Any](column)) match {
      case Seq(value) => String.valueOf(value)
      case others => fail(s"not one delete: $others")
    }

  private def assertNeedsHistory(before: String, now: String, because: String): Unit =
    restarted(before, now) { (plan, run) =>
      assert(outcomes(plan) == Seq("needs history", "needs history"))
      assert(plan(1).getAs[String]("because").contains(because))
      val error = intercept[Exception](run())
      assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"))
    }

  test("fields of structs in another order need history at every depth") {
    val (one, other) = ("struct(n AS x, n * 10 AS y)", "struct(n * 10 AS y, n AS x)")
    Seq[String => String](
      s => s,
      s => s"array($s)",
      s => s"map('key', $s)",
      s => s"struct($s AS inner)",
      s => s"array(struct(1 AS one, map($s, $s) AS inner))").foreach { nested =>
      assertNeedsHistory(s"${nested(one)} AS s", s"${nested(other)} AS s", "another order")
    }
    assertNeedsHistory(s"$one AS s", "struct(n AS x, n * 10 AS z) AS s", "other names")
  }

  test("a type to which values are rounded, cut or moved in time needs history") {
    Seq(
      "bigint" -> "float",
      "bigint" -> "double",
      "int" -> "float",
      "array<bigint>" -> "array<double>",
      "struct<x: int>" -> "struct<x: float>",
      "decimal(20, 0)" -> "bigint",
      "decimal(10, 0)" -> "int",
      "timestamp" -> "bigint",
      "bigint" -> "timestamp",
      "timestamp" -> "timestamp_ntz",
      "timestamp_ntz" -> "timestamp",
      "timestamp" -> "string",
      "binary" -> "string",
      "interval day to second" -> "interval day to hour").foreach { case (before, now) =>
      assertNeedsHistory(s"CAST(NULL AS $before) AS v", s"CAST(NULL AS $now) AS v", "loss")
    }
  }

  test("stored values keep their value in a wider type") {
    Seq(
      ("tinyint", "bigint", "n", "1"),
      ("smallint", "float", "n", "1.0"),
      ("int", "double", "n", "1.0"),
      ("int", "decimal(10, 0)", "n", "1"),
      ("float", "double", "n / 4", "0.25"),
      ("decimal(9, 0)", "int", "n", "1"),
      ("decimal(5, 2)", "decimal(7, 3)", "n", "1.000"),
      ("bigint", "string", "n", "1"),
      ("array<int>", "array<bigint>", "array(n)", "ArraySeq(1)"),
      ("struct<x: int>", "struct<X: bigint>", "struct(n)", "[1]"),
      ("date", "timestamp_ntz", "DATE'2026-01-01'", "2026-01-01T00:00")).foreach {
      case (before, now, value, expected) =>
        restarted(s"CAST($value AS $before) AS v", s"CAST($value AS $now) AS v") { (plan, run) =>
          assert(outcomes(plan) == Seq("is rebuilt", "is rebuilt"))
          assert(deleted(run(), "v") == expected)
        }
    }
  }

  test("a column whose name is written in another case keeps its values") {
    Seq(
      ("n * 2 AS Price", "n * 2 AS price", "price", "2"),
      ("n * 2 AS Price", "CAST(n * 2 AS bigint) AS PRICE", "PRICE", "2"),
      ("array(n) AS Price", "array(n) AS price", "price", "ArraySeq(1)")).foreach {
      case (before, now, column, expected) =>
        restarted(before, now) { (plan, run) =>
          assert(outcomes(plan) == Seq("is rebuilt", "is rebuilt"))
          assert(deleted(run(), column) == expected)
        }
    }
  }

  test("a session in which the case of names matters has another column") {
    withSQLConf("spark.sql.caseSensitive" -> "true") {
      restarted("n * 2 AS Price", "n * 2 AS price") { (plan, run) =>
        assert(plan.map(_.getAs[String]("because")).exists(_.contains("It is NULL")))
        assert(deleted(run(), "price") == "null")
      }
    }
  }

  test("aggregates and functions over a column in another case are those of its values") {
    withTempDir { folder =>
      val checkpoint = folder.getCanonicalPath
      val stream = ticks()
      def query(column: String) = {
        val rows = timed(stream).selectExpr("k", "ts", "n", s"n * 10 AS $column")
        keep(
          rows,
          "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS', time => 'ts', output => 'agg', " +
            "aggregates => TABLE(SELECT sum(price) AS total FROM input_of_keep)")
      }
      stream.addData(Tick("a", 1, 1))
      val _ = runAll(query("Price"), checkpoint)
      val rows = after(stream, query("price"), checkpoint)
      assert(rows.map(_.getAs[Long]("total")) == Seq(10, 30))
    }
    withTempDir { folder =>
      val checkpoint = folder.getCanonicalPath
      val stream = ticks()
      def query(column: String) = {
        timed(stream)
          .selectExpr("k", "ts", "n", s"n * 10 AS $column")
          .createOrReplaceTempView("input_of_over")
        spark.sql(
          "SELECT *, sum(price) OVER (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING) AS total FROM input_of_over")
      }
      stream.addData(Tick("a", 1, 1), Tick("b", 50, 1))
      val _ = runAll(query("Price"), checkpoint)
      val rows = after(stream, query("price"), checkpoint)
      assert(rows.filter(_.getAs[String]("k") == "a").map(_.getAs[Long]("total")) == Seq(30))
    }
  }

  test("columns that differ in their case only are not mixed up") {
    withSQLConf("spark.sql.caseSensitive" -> "true") {
      restarted("n * 2 AS N", "n * 3 AS nN") { (plan, run) =>
        assert(outcomes(plan).head == "is rebuilt")
        assert(deleted(run(), "n") == "1")
      }
    }
  }
}
