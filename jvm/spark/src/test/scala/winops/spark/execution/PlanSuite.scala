package winops.spark.execution

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.ExplainMode
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution
import org.apache.spark.sql.winops.execution.StatefulKeepExec

import winops.spark.plan.Keep
import winops.spark.testing.{CompiledCode, KeepStreamTest, Tick}
import winops.testing.TableTests

/** The plan of `keep`, and its text in EXPLAIN. */
class PlanSuite extends KeepStreamTest with CompiledCode with TableTests {
  import testImplicits._

  private val call = "PARTITION BY (k, n % 10) ORDER BY (n DESC), 'keep 2 rows', time => 'ts'"
  private val line = "Keep [KEEP 2 ROWS], per [k, (n % 10)], order by [n DESC NULLS LAST], " +
    "time [ts] applied by event_time"

  private def explained(df: DataFrame): Seq[String] = df.queryExecution
    .explainString(ExplainMode.fromString("extended"))
    .linesIterator
    .map(_.trim.stripPrefix("+- ").trim)
    .filter(_.startsWith("Keep "))
    .toSeq

  private def executionAfterOneBatch(df: DataFrame)(addData: => Unit): IncrementalExecution = {
    var last: IncrementalExecution = null
    withTempDir { dir =>
      val query = start(df, dir.getCanonicalPath, new Written)
      try {
        addData
        query.processAllAvailable()
        last = execution(query).lastExecution
      } finally query.stop()
    }
    last
  }

  test("EXPLAIN says in one line what is kept, in the plan of a stream and of a table") {
    val plans = explained(keep(timed(ticks()), call))
    assert(plans.toSet == Set(line))
    val table = Seq(Tick("a", 1, 1)).toDF()
    val rows = keep(withTime(table), s"$call, output => 'rows', idle => '1 minute'")
    assert(explained(rows).toSet == Set(s"$line, idle [60000 ms], output [rows]"))
  }

  private def drops(arguments: String): Boolean =
    keep(withTime(Seq(Tick("a", 1, 1)).toDF()), arguments).queryExecution.executedPlan.toString
      .contains("NewestRows")

  private val group = "PARTITION BY (k) ORDER BY (n)"

  testEach("rows of a table that cannot be among the newest are dropped before the shuffle")(
    s"$group, 'keep 2 rows', output => 'rows'",
    ", 'keep 2 rows', output => 'rows'",
    s"$group, 'keep 2 rows', output => 'rows', time => 'ts'",
    s"$group, esper => '#lastevent', output => 'rows'")(arguments => assert(drops(arguments)))

  testEach("no rows are dropped before the shuffle")(
    s"$group, 'keep 2 rows'",
    s"$group, 'keep 2 rows slack 2', output => 'rows'",
    s"$group, 'keep every 2 rows', output => 'rows'",
    s"$group, 'keep 100000 rows', output => 'rows'",
    s"$group, 'keep 2 rows', output => 'rows', max_rows => 2",
    s"$group, 'keep 2 rows', output => 'rows', time => 'ts', idle => '1 minute'",
    s"$group, 'keep 2 rows', output => 'rows', time => 'ts', on_null_time => 'drop'",
    s"$group, 'keep 2 rows', output => 'rows', time => 'ts', apply => 'arrival'",
    s"$group, 'keep 2 rows', output => 'rows', punct => 'k'")(arguments =>
    assert(!drops(arguments)))

  test("columns of a table that nobody reads are not read, but a stream stores all") {
    def columnsRead(df: DataFrame): Seq[String] =
      df.queryExecution.optimizedPlan.collectFirst { case keep: Keep =>
        keep.child.output.map(_.name)
      }.get
    val table = withTime(Seq(Tick("a", 1, 1), Tick("b", 2, 2)).toDF())
    val group = "PARTITION BY (k) ORDER BY (n), 'keep 1 row'"
    Seq("rows", "changes").foreach { output =>
      val kept = keep(table, s"$group, output => '$output'")
      assert(columnsRead(kept) == Seq("k", "ts", "n"))
      assert(columnsRead(kept.select($"k")) == Seq("k", "n"))
      assert(kept.select($"k").as[String].collect().sorted.toSeq == Seq("a", "b"))
    }
    val snapshots = keep(table, s"$group, output => 'snapshots'")
    assert(columnsRead(snapshots.select($"k")) == Seq("k", "ts", "n"))
    val stream = keep(timed(ticks()), group).queryExecution.analyzed
    val stored = stream.collectFirst { case keep: Keep => keep }.get
    assert(stored.references == stored.child.outputSet)
  }

  test("a result that repeats a group key is computed, as checkpoints name it, but not shown") {
    val query = "SELECT k, avg(n) AS mean FROM rows GROUP BY k"
    withTime(Seq(Tick("a", 1, 1)).toDF()).createOrReplaceTempView("rows")
    val means = spark.sql(
      "SELECT * FROM keep(TABLE(rows) PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS', " +
        s"output => 'agg', aggregates => TABLE($query))")
    val keeps = means.queryExecution.analyzed.collect { case keep: Keep => keep }
    assert(keeps.map(keep => (keep.by.size, keep.results.size)) == Seq((1, 2)))
    assert(means.columns.toSeq == Seq("k", "_change_time", "_change_seq", "mean"))
  }

  test("EXPLAIN says that there is one task only") {
    val plans = explained(keep(ticks().toDF(), ", 'KEEP 10 ROWS SLACK 5'"))
    assert(plans.toSet == Set("Keep [KEEP 10 ROWS SLACK 5], in one task"))
  }

  test("a running query shows the operator under its name, without a second child in the line") {
    val stream = ticks()
    val last = executionAfterOneBatch(keep(timed(stream), call)) {
      stream.addData(Tick("a", 1, 1))
    }
    val text = last.explainString(ExplainMode.fromString("formatted"))
    assert(text.contains("Keep"))
    assert(text.contains("per [k, (n % 10)]"))
    assert(!text.contains("FlatMapGroups"))
  }

  test("a stream with keep is not planned adaptively") {
    val stream = ticks()
    withSQLConf("spark.sql.adaptive.enabled" -> "true") {
      val last = executionAfterOneBatch(keep(timed(stream), call)) {
        stream.addData(Tick("a", 1, 1))
      }
      assert(last.executedPlan.collectFirst { case k: StatefulKeepExec => k }.isDefined)
      assert(last.executedPlan.collectFirst { case a: AdaptiveSparkPlanExec => a }.isEmpty)
    }
  }

  test("the operator is copied and compared by its own arguments") {
    val stream = ticks()
    val last = executionAfterOneBatch(keep(timed(stream), call)) {
      stream.addData(Tick("a", 1, 1))
    }
    val operator = last.executedPlan.collectFirst { case k: StatefulKeepExec => k }.get
    val copied = operator.copy()
    assert(copied.isInstanceOf[StatefulKeepExec])
    assert(copied == operator && copied.hashCode == operator.hashCode)
    assert(operator.copy(eventTimeWatermarkForEviction = Some(-1L)) != operator)
    assert(operator.withNewChildren(operator.children).isInstanceOf[StatefulKeepExec])
    assert(operator.clone().isInstanceOf[StatefulKeepExec])
    assert(operator.children.size == 2 && operator.children.head.output.nonEmpty)
  }

  test("a row at exactly the watermark still waits, so the output's watermark is before it") {
    val stream = ticks()
    val last = executionAfterOneBatch(keep(timed(stream), call)) {
      stream.addData(Tick("a", 1, 1))
    }
    val operator = last.executedPlan.collectFirst { case k: StatefulKeepExec => k }.get
    assert(operator.produceOutputWatermark(5000).contains(4999L))
    assert(operator.produceOutputWatermark(0).contains(0L))
  }
}
