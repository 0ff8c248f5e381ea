package winops.spark.restart

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream

import winops.spark.testing.{KeepStreamTest, Tick}

/** Restarts with input columns of other types and names: stored values are kept as they are, or
  * the restart is refused.
  */
class ChangedColumnsSuite extends KeepStreamTest {
  private val call = "PARTITION BY (k) ORDER BY (n), 'KEEP 1 ROWS', time => 'ts'"

  /** Starts a query with the columns before a change, then one with those after it.
    *
    * @param changes
    *   the SQL of each column before and after
    * @param check
    *   gets the plan of the restart, and runs the second query when it calls the argument
    */
  private def restarted(changes: (String, String)*)(
      check: (Seq[Row], () => Seq[Row]) => Unit): Unit = withTempDir { folder =>
    val checkpoint = folder.getCanonicalPath
    val stream = ticks()
    def query(columns: Seq[String]): DataFrame =
      keep(timed(stream).selectExpr(Seq("k", "ts", "n") ++ columns: _*), call)
    val (before, now) = changes.unzip
    stream.addData(Tick("a", 1, 1))
    val _ = runAll(query(before), checkpoint)
    val plan = restartPlanOf(query(now), checkpoint)
    check(plan, () => after(stream, query(now), checkpoint))
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

  /** Checks that each change of a value, as SQL, needs history. */
  private def assertNeedHistory(because: String)(changes: (String, String)*): Unit = {
    val columns = changes.zipWithIndex.map { case ((before, now), i) =>
      s"$before AS v$i" -> s"$now AS v$i"
    }
    restarted(columns: _*) { (plan, run) =>
      assert(plan.head.getAs[String]("outcome") == "needs history")
      assert(plan.tail.map(_.getAs[String]("subject")) == changes.indices.map(i => s"column v$i"))
      plan.tail.zip(columns).foreach { case (difference, change) =>
        assert(difference.getAs[String]("outcome") == "needs history", change)
        assert(difference.getAs[String]("because").contains(because), change)
      }
      val error = intercept[Exception](run())
      assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"))
    }
  }

  test("fields of structs in another order need history at every depth") {
    val (one, other) = ("struct(n AS x, n * 10 AS y)", "struct(n * 10 AS y, n AS x)")
    val atEveryDepth = Seq[String => String](
      s => s,
      s => s"array($s)",
      s => s"map('key', $s)",
      s => s"struct($s AS inner)",
      s => s"array(struct(1 AS one, map($s, $s) AS inner))")
    assertNeedHistory("another order")(
      atEveryDepth.map(nested => nested(one) -> nested(other)): _*)
    assertNeedHistory("other names")(one -> "struct(n AS x, n * 10 AS z)")
  }

  test("a type to which values are rounded, cut or moved in time needs history") {
    val types = Seq(
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
      "interval day to second" -> "interval day to hour")
    assertNeedHistory("loss")(types.map { case (before, now) =>
      s"CAST(NULL AS $before)" -> s"CAST(NULL AS $now)"
    }: _*)
  }

  test("stored values keep their value in a wider type") {
    val casts = Seq(
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
      ("date", "timestamp_ntz", "DATE'2026-01-01'", "2026-01-01T00:00"))
    val columns = casts.zipWithIndex.map { case ((before, now, value, _), i) =>
      s"CAST($value AS $before) AS v$i" -> s"CAST($value AS $now) AS v$i"
    }
    restarted(columns: _*) { (plan, run) =>
      assert(outcomes(plan) == "is rebuilt" +: casts.map(_ => "is rebuilt"))
      val rows = run()
      casts.zipWithIndex.foreach { case ((before, now, _, expected), i) =>
        assert(deleted(rows, s"v$i") == expected, s"$before -> $now")
      }
    }
  }

  test("a column whose name is written in another case keeps its values") {
    restarted(
      "n * 2 AS Price" -> "n * 2 AS price",
      "n * 2 AS Wider" -> "CAST(n * 2 AS bigint) AS WIDER",
      "array(n) AS List" -> "array(n) AS list") { (plan, run) =>
      assert(outcomes(plan) == Seq.fill(4)("is rebuilt"))
      val rows = run()
      assert(deleted(rows, "price") == "2")
      assert(deleted(rows, "WIDER") == "2")
      assert(deleted(rows, "list") == "ArraySeq(1)")
    }
  }

  test("a session in which the case of names matters has another column") {
    withSQLConf("spark.sql.caseSensitive" -> "true") {
      restarted("n * 2 AS Price" -> "n * 2 AS price") { (plan, run) =>
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
      restarted("n * 2 AS N" -> "n * 3 AS nN") { (plan, run) =>
        assert(outcomes(plan).head == "is rebuilt")
        assert(deleted(run(), "n") == "1")
      }
    }
  }
}
