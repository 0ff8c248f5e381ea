package winops.spark.restart

import org.apache.spark.sql.{AnalysisException, Column, DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions.{avg, col, collect_list, last, lit, max, sum}

import winops.{keep => keepRows}
import winops.spark.testing.{KeepStreamTest, RandomProperties, Tick}
import winops.testing.{Longer, TableTests}

/** Restarts of queries whose input has several columns of one name, which a join leaves. */
class ColumnsOfOneNameSuite extends KeepStreamTest with RandomProperties with TableTests {
  import testImplicits._

  private lazy val rates = Seq("a" -> 100, "b" -> 200).toDF("k", "n")

  private val first = Seq(Tick("a", 1, 1), Tick("b", 1, 3), Tick("a", 2, 2))
  private val later = Seq(Tick("a", 3, 4), Tick("b", 3, 5))

  /** The rows with a rate, as `k`, `ts`, `n` and again `n`, and the two columns `n`.
    *
    * @param isWider
    *   true for a further column before the columns `n`
    */
  private def joined(
      stream: MemoryStream[Tick],
      isWider: Boolean = false): (DataFrame, Column, Column) = {
    val rows =
      if (isWider) timed(stream).select($"k", lit(7).as("more"), $"ts", $"n") else timed(stream)
    (rows.join(rates, "k"), rows("n"), rates("n"))
  }

  /** Runs `before` over the first rows. */
  private def after(before: MemoryStream[Tick] => DataFrame)(
      body: (String, MemoryStream[Tick]) => Unit): Unit = withTempDir { folder =>
    val stream = ticks()
    stream.addData(first)
    val _ = runAll(before(stream), folder.getCanonicalPath)
    body(folder.getCanonicalPath, stream)
  }

  private def outcomes(query: DataFrame, checkpoint: String): Seq[(String, String)] =
    winops
      .restartPlan(query, checkpoint)
      .collect()
      .toSeq
      .map(row => row.getAs[String]("subject") -> row.getAs[String]("outcome"))

  private def shown(rows: Seq[Row]): Seq[String] = rows.map(_.toString).sorted

  /** The later output of a query that has always run. */
  private def always(query: MemoryStream[Tick] => DataFrame): Seq[String] = {
    var rows = Seq.empty[String]
    after(query) { (checkpoint, stream) =>
      stream.addData(later)
      rows = shown(runAll(query(stream), checkpoint).rows)
    }
    rows
  }

  private def aggregate(own: Boolean, isWider: Boolean = false)(function: Column => Column)(
      stream: MemoryStream[Tick]): DataFrame = {
    val (rows, n, rate) = joined(stream, isWider)
    keepRows(rows, "KEEP 9 ROWS PER (k)", orderBy = "ts")
      .agg(function(if (own) n else rate).as("value"))
      .drop("_change_time")
  }

  (1 to 3).foreach { run =>
    val tags = Longer.unless(run == 1)
    property(s"an aggregate over the other column is another aggregate: run $run", tags: _*) {
      random =>
        val functions = Seq[Column => Column](
          sum,
          avg,
          max(_),
          collect_list(_),
          n => sum(n + 1) * 2,
          n => sum(n) + max(n))
        val function = functions(random.nextInt(functions.size))
        val own = random.nextBoolean()
        val now = aggregate(!own)(function)(_)
        after(aggregate(own)(function)) { (checkpoint, stream) =>
          stream.addData(later)
          assert(outcomes(now(stream), checkpoint).head == "whole state" -> "is rebuilt")
          assert(shown(runAll(now(stream), checkpoint).rows) == always(now))
        }
    }
  }

  test("aggregates over both columns that change places") {
    def both(isChanged: Boolean)(stream: MemoryStream[Tick]): DataFrame = {
      val (rows, n, rate) = joined(stream)
      val (one, other) = if (isChanged) (rate, n) else (n, rate)
      keepRows(rows, "KEEP 9 ROWS PER (k)", orderBy = "ts")
        .agg(sum(one).as("first"), sum(other).as("second"))
        .drop("_change_time")
    }
    val now = both(isChanged = true)(_)
    after(both(isChanged = false)) { (checkpoint, stream) =>
      stream.addData(later)
      assert(shown(runAll(now(stream), checkpoint).rows) == always(now))
    }
  }

  private def ordered(own: Boolean, isWider: Boolean = false)(
      stream: MemoryStream[Tick]): DataFrame = {
    val (rows, n, rate) = joined(stream, isWider)
    keepRows(rows, "KEEP 2 ROWS PER (k)", orderBy = if (own) n else rate).changes()
  }

  private def grouped(own: Boolean, isWider: Boolean = false)(
      stream: MemoryStream[Tick]): DataFrame = {
    val (rows, n, rate) = joined(stream, isWider)
    keepRows(rows, "KEEP 2 ROWS", per = if (own) n else rate, orderBy = "ts").changes()
  }

  private val orderOrGroup = for {
    own <- Seq(true, false)
    (subject, query) <- Seq[(String, Boolean => MemoryStream[Tick] => DataFrame)](
      "order" -> (own => ordered(own)(_)),
      "group" -> (own => grouped(own)(_)))
  } yield (s"$subject, first by ${if (own) "the own" else "the other"}", subject, own, query)

  testEach("another column of the order or the group needs history", short = 2)(
    orderOrGroup: _*) { case (_, subject, own, query) =>
    after(query(own)) { (checkpoint, stream) =>
      stream.addData(later)
      val now = query(!own)(stream)
      assert(outcomes(now, checkpoint).exists { case (name, outcome) =>
        name.startsWith(subject) && outcome == "needs history"
      })
      assert(conditionsOf(failureOf(now, checkpoint)).contains("WINOPS_POLICY_CHANGED"))
      assert(outcomes(query(own)(stream), checkpoint) == Seq("whole state" -> "continues"))
    }
  }

  test("a column that is added before them is the only difference") {
    def over(isWider: Boolean)(stream: MemoryStream[Tick]): DataFrame = {
      val (rows, n, rate) = joined(stream, isWider)
      val frame = Window.partitionBy("k").orderBy(rows("ts"), n).rowsBetween(-1, 0)
      rows.select(col("*"), sum(n).over(frame), sum(rate).over(frame))
    }
    Seq[Boolean => MemoryStream[Tick] => DataFrame](
      isWider => ordered(own = false, isWider)(_),
      isWider => grouped(own = false, isWider)(_),
      isWider => aggregate(own = false, isWider)(n => last(n))(_),
      isWider => over(isWider)(_)).foreach { query =>
      after(query(false)) { (checkpoint, stream) =>
        assert(
          outcomes(query(true)(stream), checkpoint) ==
            Seq("whole state" -> "is rebuilt", "column more" -> "is rebuilt"))
      }
    }
  }

  private lazy val texts = Seq("a" -> "x", "b" -> "y").toDF("k", "more")

  /** The newest row of each group, with two more columns of one name and of different types. */
  private def newest(isTextFirst: Boolean, fill: Map[String, Any])(
      stream: MemoryStream[Tick]): DataFrame = {
    val more = Seq(lit(1).as("more"), texts("more"))
    val columns = Seq($"k", $"ts", $"n") ++ (if (isTextFirst) more.reverse else more)
    keepRows(
      timed(stream).join(texts, "k").select(columns: _*),
      "KEEP 1 ROW PER (k)",
      orderBy = "ts",
      fill = fill).changes()
  }

  test("the value of fill= has the type of each added column of its name") {
    def before(stream: MemoryStream[Tick]): DataFrame =
      keepRows(timed(stream), "KEEP 1 ROW PER (k)", orderBy = "ts").changes()
    Seq(false, true).foreach { isTextFirst =>
      after(before) { (checkpoint, stream) =>
        stream.addData(later)
        val rows = runAll(newest(isTextFirst, Map("more" -> 7))(stream), checkpoint).rows
        val deleted = rows.filter(_.getAs[String]("_change_type") == "delete").map { row =>
          row.schema.fieldNames.toSeq.zip(row.toSeq).collect { case ("more", value) => value }
        }
        val filled = Seq[Any](7, "7")
        assert(deleted == Seq.fill(2)(if (isTextFirst) filled.reverse else filled))
      }
    }
  }

  test("a value of fill= that one of the columns of its name cannot have is refused") {
    Seq(false, true).foreach { isTextFirst =>
      val error = intercept[AnalysisException](newest(isTextFirst, Map("more" -> "x"))(ticks()))
      assert(error.getCondition == "WINOPS_ARGUMENT.VALUE")
      assert(error.getMessage.contains("a value of the type INT for the column more"))
    }
  }
}
