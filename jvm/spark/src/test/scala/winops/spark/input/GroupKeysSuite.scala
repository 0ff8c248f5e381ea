package winops.spark.input

import org.apache.spark.sql.{AnalysisException, DataFrame}

import winops.spark.testing.KeepStreamTest
import winops.testing.TableTests

/** Group keys whose values are equal although their bytes differ. */
class GroupKeysSuite extends KeepStreamTest with TableTests {
  import testImplicits._
  import GroupKeysSuite._

  private val otherNaN = java.lang.Double.longBitsToDouble(0x7ff0000000000001L)

  private val values: Seq[Option[Double]] = Seq(
    Some(0.0),
    Some(-0.0),
    Some(Double.NaN),
    Some(otherNaN),
    None,
    Some(1.0),
    None,
    Some(-Double.NaN),
    Some(-0.0))

  private val rows = values.zipWithIndex.map { case (x, i) => Measured(x, i) }

  /** The rows of each group in the order of `_change_seq`, identified by their numbers. */
  private def groups(df: DataFrame): Set[Seq[Int]] = df
    .where("_change_type = 'insert'")
    .collect()
    .toSeq
    .groupBy(r => Option(r.getAs[Any]("x")).map(x => if (x == 0.0) "0" else s"$x"))
    .values
    .map(_.sortBy(_.getAs[Long]("_change_seq")).map(_.getAs[Int]("n")))
    .toSet

  private val expected = Set(Seq(0, 1, 8), Seq(2, 3, 7), Seq(4, 6), Seq(5))

  test("zeros are one group, and NaNs, and nulls, from batch to batch and on a table") {
    val stream = memoryStream[Measured]
    val written = new Written
    withTempDir { dir =>
      val query =
        start(
          keep(stream.toDF(), "PARTITION BY (x), 'KEEP 9 ROWS'"),
          dir.getCanonicalPath,
          written)
      try {
        // Groups have rows of several batches.
        rows.grouped(3).foreach { batch =>
          stream.addData(batch)
          query.processAllAvailable()
        }
        val metrics = query.lastProgress.stateOperators.head.customMetrics
        assert(metrics.get("groups") == 4L)
      } finally query.stop()
    }
    val emitted = written.rows
    val streamed =
      spark.createDataFrame(java.util.Arrays.asList(emitted: _*), emitted.head.schema)
    assert(groups(streamed) == expected)
    val table = keep(rows.toDF(), "PARTITION BY (x) ORDER BY (n), 'KEEP 9 ROWS'")
    assert(groups(table) == expected)
  }

  test("a row keeps the bits that its group does not look at") {
    val table = keep(rows.toDF(), "PARTITION BY (x) ORDER BY (n), 'KEEP 1 ROW'")
    val zeros = table.where("x = 0").orderBy("_change_seq").select("x").as[Double].collect()
    assert(zeros.map(1 / _).toSeq == Seq(0.0, -0.0, 0.0, -0.0, -0.0).map(1 / _))
  }

  testEach("floats, structs of doubles and several keys are normalized too")(
    "f",
    "s",
    "a",
    "f, s") { keys =>
    val df = rows
      .toDF()
      .selectExpr("CAST(x AS FLOAT) AS f", "named_struct('x', x) AS s", "array(x, 1D) AS a", "n")
    val kept = keep(df, s"PARTITION BY ($keys) ORDER BY (n), 'KEEP 9 ROWS'")
    assert(kept.where("_change_seq = 0").count() == 4)
  }

  testEach("keys that cannot be compared are refused")(
    "map('a', 1)",
    "array(map('a', 1))",
    "parse_json('1')") { value =>
    val error = intercept[AnalysisException] {
      keep(spark.sql(s"SELECT $value AS x, 1 AS n"), "PARTITION BY (x), 'KEEP 1 ROW'")
    }
    assert(error.getCondition == "WINOPS_GROUP_TYPE")
  }
}

private object GroupKeysSuite {
  final case class Measured(x: Option[Double], n: Int)
}
