package winops.spark.restart

import org.apache.spark.sql.{DataFrame, Row}

import winops.spark.testing.{Ask, LookupTest, Trade}

/** Restarts of a query in which rows look windows up, with another query. */
class ChangedLookupsSuite extends LookupTest {
  import testImplicits._

  import ChangedLookupsSuite._

  private type Query = (DataFrame, DataFrame) => DataFrame

  private def query(
      arguments: String = "",
      policy: String = "KEEP 2 ROWS",
      results: String = Results): Query = (trades, asks) =>
    lookup(
      trades,
      asks,
      s"'$policy'",
      s"aggregates => TABLE(SELECT $results FROM input_of_keep)$arguments")

  /** Runs a query until all rows but those of the last second are applied, and passes the plan of
    * a restart with another one, and what runs it.
    */
  private def restarted(before: Query, now: Query)(
      check: (Seq[String], () => Seq[Row]) => Unit): Unit = withTempDir { folder =>
    val checkpoint = folder.getCanonicalPath
    val (trades, asks) = (memoryStream[Trade], memoryStream[Ask])
    def of(query: Query): DataFrame =
      query(timedTrades(trades, "0 seconds"), timedAsks(asks, "0 seconds"))
    trades.addData(Early)
    asks.addData(Ask(Some("a"), at(2), 1, Some("early")), Ask(Some("a"), at(5), 2, Some("waits")))
    val _ = runAll(of(before), checkpoint)
    val plan = restartPlanOf(of(now), checkpoint).map(_.getAs[String]("outcome"))
    check(
      plan,
      () => {
        trades.addData(Trade(Some("a"), at(6), 6, None), Trade(None, at(99), 99, None))
        asks.addData(Ask(Some("a"), at(7), 3, Some("late")), Ask(None, at(99), 99, None))
        runAll(of(now), checkpoint).rows.sortBy(_.getAs[Int]("id"))
      })
  }

  private def continues(before: Query, now: Query, outcome: String)(expected: Row*): Unit =
    restarted(before, now) { (plan, run) =>
      assert(plan.head == outcome)
      assert(run().map(row => Row(row.toSeq.drop(2): _*)) == expected)
    }

  private def isRefused(before: Query, now: Query): Unit = restarted(before, now) { (plan, run) =>
    assert(plan.head == "is refused")
    assert(conditionsOf(intercept[Exception](run())).contains("WINOPS_POLICY_CHANGED"))
  }

  test("the same query answers the rows that have waited") {
    continues(query(), query(), "continues")(
      Row(2, "waits", 2L, Seq(3, 4)),
      Row(3, "late", 2L, Seq(4, 6)))
  }

  test("what is emitted of the rows that look up may change") {
    continues(query(), query(", lookup_how => 'inner', lookup_contents => 'rows'"), "continues")(
      Row(2, "waits", 2L, Seq(3, 4), rows(3, 4)),
      Row(3, "late", 2L, Seq(4, 6), rows(4, 6)))
    continues(query(), query(", late => 'emit'"), "continues")(
      Row(2, "waits", 2L, Seq(3, 4), null),
      Row(3, "late", 2L, Seq(4, 6), null))
  }

  test("other aggregates are computed from the rows of the windows") {
    continues(query(), query(results = s"$Results, max(n) AS m"), "is rebuilt")(
      Row(2, "waits", 2L, Seq(3, 4), 4),
      Row(3, "late", 2L, Seq(4, 6), 6))
  }

  test("columns of the rows that look up are added and removed") {
    val fewer: Query = (trades, asks) => query()(trades, asks.drop("note"))
    continues(query(), fewer, "is rebuilt")(Row(2, 2L, Seq(3, 4)), Row(3, 2L, Seq(4, 6)))
    continues(fewer, query(), "is rebuilt")(
      Row(2, null, 2L, Seq(3, 4)),
      Row(3, "late", 2L, Seq(4, 6)))
  }

  test("a window of another length continues, and rows are carried into another window") {
    continues(query(), query(policy = "KEEP 3 ROWS"), "continues")(
      Row(2, "waits", 2L, Seq(3, 4)),
      Row(3, "late", 3L, Seq(3, 4, 6)))
    continues(
      query(),
      query(", on_change => 'carry'", policy = "KEEP 2 SECONDS"),
      "is carried over")(Row(2, "waits", 1L, Seq(4)), Row(3, "late", 1L, Seq(6)))
  }

  test("the order of the rows that wait may not change") {
    isRefused(query(), query(", lookup_before => true"))
    isRefused(query(", lookup_before => true"), query())
  }

  test("another output needs another checkpoint") {
    val withColumns: Query = (trades, _) =>
      keep(
        trades,
        "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS', time => 'ts', output => 'withColumns', " +
          "aggregates => TABLE(SELECT count(*) AS id FROM input_of_keep)")
    restarted(query(), withColumns)((plan, _) => assert(plan.head == "is refused"))
  }
}

private object ChangedLookupsSuite {
  val Results = "count(*) AS c, collect_list(n) AS every"

  def at(seconds: Long): Long = seconds * 1000000L

  /** Applied until the time of the last one, which waits. */
  val Early: Seq[Trade] = Seq(1, 3, 4, 5).map { second =>
    Trade(Some(if (second == 5) "b" else "a"), at(second.toLong), second, None)
  }

  /** The rows of a window, as structs. */
  def rows(numbers: Int*): Seq[Row] = numbers.map { n =>
    Row("a", new java.sql.Timestamp(n * 1000L), n, null)
  }
}
