package winops.spark.over

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.catalyst.expressions.{CurrentRow, Literal, PythonUDAF, RowFrame, SpecifiedWindowFrame, UnboundedPreceding, WindowExpression, WindowSpecDefinition}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Complete}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, Window => WindowNode}
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types.LongType

import winops.spark.plan.Over
import winops.testing.TableTests

/** The plans of window functions over a stream, and the errors of those that a stream cannot
  * have.
  */
class ResolveOverSuite extends OverStreamTest with TableTests {
  import testImplicits._

  private def stream: DataFrame =
    withTimeOf(memoryStream[Quote].toDF()).withWatermark("ts", "0 seconds")

  private val w = Window.partitionBy("k").orderBy("ts", "seq")

  private def operators(df: DataFrame): Seq[Over] =
    df.queryExecution.analyzed.collect { case over: Over => over }

  private def refusal(df: DataFrame): AnalysisException = {
    var error: AnalysisException = null
    withTempDir { checkpoint =>
      error = intercept[AnalysisException] {
        start(df, checkpoint.getCanonicalPath, new Written).stop()
      }
    }
    error
  }

  test("functions of one PARTITION BY and ORDER BY are one operator") {
    val several = stream
      .withColumn("a", sum("n").over(w))
      .withColumn("twice", $"n" * 2)
      .withColumn("b", lag("twice", 1).over(w))
      .as("t")
      .withColumn("c", row_number().over(w))
      .withColumn("d", sum("n").over(w) + 1)
    assert(operators(several).map(_.results.size) == Seq(4))
    assert(!several.queryExecution.analyzed.exists(_.isInstanceOf[WindowNode]))
  }

  test("functions of an ORDER BY that begins with another are one operator") {
    def first = stream.withColumn("n1", max("n").over(Window.partitionBy("k").orderBy("ts")))
    def orders(df: DataFrame) = operators(df).map(_.spec.order)
    val inOrder = Seq(Seq("seq ASC NULLS FIRST"))
    val of = Window.partitionBy("k")
    assert(orders(first.withColumn("n2", lag("n", 1).over(w))) == inOrder)
    assert(
      orders(
        stream
          .withColumn("a", lag("n", 1).over(w))
          .withColumn("b", sum("x").over(of.orderBy("ts")))) == inOrder)
    assert(
      orders(
        stream
          .withColumn("next", lead("n", 1).over(w))
          .withColumn("b", rank().over(of.orderBy("ts")))) == inOrder)
    // Spark adds the rows of one time in the order of the source, which may give other bits.
    val sums = stream.withColumn("a", sum("x").over(of.orderBy("ts")))
    assert(operators(sums.withColumn("b", lag("n", 1).over(w))).size == 2)
    assert(
      operators(first.withColumn("b", lag("n", 1).over(of.orderBy("ts", "s", "seq")))).size == 1)
    // 0 and -0 are equal, and so are texts in a collation: the first of them is the greatest.
    Seq(max("x"), min(struct("x")), max(expr("s COLLATE UTF8_LCASE"))).foreach { greatest =>
      val below = stream.withColumn("a", greatest.over(of.orderBy("ts")))
      assert(operators(below.withColumn("b", lag("n", 1).over(w))).size == 2, greatest)
    }
    val other = stream.withColumn("a", max("n").over(of.orderBy("ts", "s")))
    assert(operators(other.withColumn("b", lag("n", 1).over(w))).size == 2)
    val computed = first.withColumn("later", $"n1" + $"seq")
    assert(
      operators(
        computed.withColumn("b", lag("n", 1).over(of.orderBy("ts", "later", "seq")))).size == 2)
  }

  test("functions behind lead are added to its operator, or refused") {
    val next = stream.withColumn("next", lead("n", 1).over(w))
    val both = next.withColumn("same", $"ts").withColumn("before", lag("n", 1).over(w))
    assert(operators(both).map(_.results.size) == Seq(2))
    val other = Window.partitionBy("s").orderBy("ts", "seq")
    val error = refusal(next.withColumn("a", sum("n").over(other)))
    assert(error.getMessage.contains("no watermark behind lead or FOLLOWING"))
  }

  test("a column that has the time of a micro-batch is computed before the operator") {
    val aged = stream
      .withColumn("a", lag("n", 1).over(w))
      .withColumn("age", unix_timestamp() - $"seq")
      .withColumn("b", sum("age").over(w))
    assert(operators(aged).size == 2)
  }

  test("the settings of the session hold within views") {
    stream.createOrReplaceTempView(View)
    val columns = "*, lag(n) OVER (PARTITION BY k ORDER BY seq) AS before"
    withTempView("with_lag") {
      withSQLConf(OverSettings.ArrivalOrder -> "true") {
        spark.sql(s"CREATE TEMP VIEW with_lag AS SELECT $columns FROM $View")
        assert(operators(spark.table("with_lag")).size == 1)
      }
    }
  }

  test("functions over results, after a filter, and of another order are further operators") {
    val ofResult = stream.withColumn("a", sum("n").over(w)).withColumn("b", max("a").over(w))
    assert(operators(ofResult).size == 2)
    val filtered =
      stream.withColumn("a", sum("n").over(w)).where("a > 3").withColumn("b", max("n").over(w))
    assert(operators(filtered).size == 2)
    val other = Window.partitionBy("s").orderBy("ts", "seq")
    val orders = stream.withColumn("a", sum("n").over(w)).withColumn("b", max("n").over(other))
    assert(operators(orders).size == 2)
  }

  test("a table and a disabled session keep Spark's own operator") {
    val table = withTimeOf(Seq.empty[Quote].toDF()).withColumn("a", sum("n").over(w))
    assert(operators(table).isEmpty)
    withSQLConf(OverSettings.Enabled -> "false") {
      val left = stream.withColumn("a", sum("n").over(w))
      assert(operators(left).isEmpty)
      assert(refusal(left).getMessage.contains("NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING"))
    }
  }

  test("the watermark stays unless rows wait for the rows that follow") {
    def hasWatermark(df: DataFrame): Boolean =
      df.queryExecution.analyzed.output.exists(_.metadata.contains(EventTimeWatermark.delayKey))
    val before = stream.withColumn("a", sum("n").over(w))
    assert(hasWatermark(before))
    assert(!hasWatermark(before.withColumn("b", lead("n", 1).over(w))))
    stream.createOrReplaceTempView(View)
    assert(!hasWatermark(spark.sql(
      s"SELECT ts, b FROM (SELECT *, lead(n) OVER (PARTITION BY k ORDER BY ts, seq) AS b FROM $View) t")))
  }

  test("only the columns that frames need are stored") {
    val df = stream.withColumn("a", sum($"n" + $"seq").over(w))
    assert(
      df.queryExecution.analyzed.output.map(_.name) == Seq("k", "ts", "seq", "n", "x", "s", "a"))
    val functions = operators(df).flatMap(_.results)
    assert(functions.flatMap(_.references).map(_.name).toSet == Set("n", "seq"))
  }

  private val byTime = "PARTITION BY k ORDER BY ts"

  testEach("refused functions name the reason and an alternative")(
    s"ntile(4) OVER ($byTime, seq)" -> "row_number",
    s"percent_rank() OVER ($byTime)" -> "rank",
    s"cume_dist() OVER ($byTime)" -> "needs all rows",
    "sum(n) OVER (PARTITION BY k)" -> "groupBy",
    s"sum(n) OVER ($byTime, seq ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)" -> "FOLLOWING",
    "lag(n) OVER (PARTITION BY k ORDER BY ts DESC)" -> "ascending",
    "row_number() OVER (PARTITION BY k ORDER BY ts DESC)" -> "keep with rows=1",
    "lag(n) OVER (PARTITION BY k ORDER BY seq)" -> "watermark is ts: let ORDER BY begin with ts",
    "sum(n) OVER (ORDER BY CAST(ts AS LONG) RANGE 10 PRECEDING)" -> "RANGE INTERVAL",
    s"sum(n + rand()) OVER ($byTime)" -> "deterministic",
    "sum(n) OVER (PARTITION BY rand() ORDER BY ts)" -> "it is not deterministic") {
    case (function, text) =>
      stream.createOrReplaceTempView(View)
      val error = refusal(spark.sql(s"SELECT seq, $function AS value FROM $View"))
      assert(error.getCondition == "WINOPS_OVER")
      assert(error.getMessage.contains(text))
  }

  test("changes of a table are no rows of window functions") {
    val feed =
      stream.withColumn("_change_type", lit("delete")).withColumn("_commit_version", lit(1L))
    val refused = refusal(feed.withColumn("before", lag("n", 1).over(w)))
    assert(refused.getMessage.contains("op => '_change_type'"))
    val renamed = feed.withColumnRenamed("_change_type", "change")
    assert(operators(renamed.withColumn("before", lag("n", 1).over(w))).size == 1)
  }

  test("without a watermark, withWatermark is the answer") {
    val bare = withTimeOf(memoryStream[Quote].toDF()).withColumn("before", lag("n", 1).over(w))
    assert(refusal(bare).getMessage.contains("Call withWatermark on a timestamp column"))
  }

  test("an aggregate in Python is refused by its name") {
    val mean =
      PythonUDAF("mean_of_mine", null, LongType, Seq(Literal(1)), udfDeterministic = true)
    val frame = SpecifiedWindowFrame(RowFrame, UnboundedPreceding, CurrentRow)
    val call = WindowExpression(
      AggregateExpression(mean, Complete, isDistinct = false),
      WindowSpecDefinition(Nil, Nil, frame))
    val refusal = OverFunctions.of(call, isOfTime = true).left.toOption.get
    assert(refusal.function.contains("mean_of_mine"))
    assert(refusal.reason == "it is a function in Python")
  }

  test("ties above an operator without an order") {
    stream.createOrReplaceTempView(View)
    def over(function: String) =
      spark.sql(
        s"SELECT *, $function AS value FROM (SELECT /*+ REPARTITION(3) */ * FROM $View) t")
    val byTime = "PARTITION BY k ORDER BY ts"
    assert(
      refusal(over(s"lag(n) OVER ($byTime)")).getMessage.contains("no order above the operator"))
    assert(refusal(over(s"first(n) OVER ($byTime)")).getCondition == "WINOPS_OVER")
    // Of texts that are equal in a collation, the first one is the greatest.
    assert(
      refusal(over(s"max(s COLLATE UTF8_LCASE) OVER ($byTime)")).getCondition == "WINOPS_OVER")
    assert(operators(over(s"max(s) OVER ($byTime)")).size == 1)
    assert(operators(over(s"sum(n) OVER ($byTime)")).size == 1)
    assert(operators(over(s"rank() OVER ($byTime)")).size == 1)
    assert(operators(over(s"lag(n) OVER ($byTime, seq)")).size == 1)
  }

  testEach("settings with values that they cannot have")(
    OverSettings.MaxRows -> "0",
    OverSettings.Idle -> "2 months",
    OverSettings.NullTime -> "first",
    OverSettings.ExactFloats -> "yes please") { case (name, value) =>
    withSQLConf(name -> value) {
      val error = refusal(stream.withColumn("a", sum("n").over(w)))
      assert(error.getMessage.contains(s"$name = $value"))
    }
  }

  test("the order of arrival") {
    withSQLConf(OverSettings.ArrivalOrder -> "true") {
      val byRow = Window.partitionBy("k").orderBy("seq")
      assert(operators(stream.withColumn("a", lag("n", 1).over(byRow))).map(_.time) == Seq(None))
      val running = stream.withColumn("a", sum("n").over(byRow))
      assert(refusal(running).getMessage.contains("Write ROWS"))
      assert(
        refusal(stream.withColumn("a", rank().over(byRow))).getMessage.contains("row_number"))
    }
  }
}
