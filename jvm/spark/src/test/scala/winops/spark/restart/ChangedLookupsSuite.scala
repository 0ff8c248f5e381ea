package winops.spark.restart

import java.sql.Timestamp

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.expressions.{And, Attribute, EqualTo, Expression, GreaterThan, Literal, Lower, Upper}
import org.apache.spark.sql.catalyst.plans.{AsOfJoinDirection, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical.AsOfJoin
import org.apache.spark.sql.winops.testing.PlannedQuery

import winops.Interval
import winops.spark.testing.{Ask, LookupTest, Trade}
import winops.testing.{Longer, TableTests}

/** Restarts of a query in which rows look windows up, with another query. */
class ChangedLookupsSuite extends LookupTest with TableTests {
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
        trades.addData(Trade(Some("a"), at(6), 6, None), Trade(Some("end"), at(99), 99, None))
        asks.addData(Ask(Some("a"), at(7), 3, Some("late")), Ask(Some("end"), at(99), 99, None))
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

  /** Checks that a restart with another join is refused, and names the argument that differs. */
  private def isRefusedJoin(
      before: Query,
      now: Query)(name: String, was: String, is: String): Unit =
    restarted(before, now) { (plan, run) =>
      assert(plan == Seq("is refused", "is refused"))
      val error = intercept[Exception](run())
      val text = Iterator
        .iterate[Throwable](error)(_.getCause)
        .takeWhile(_ != null)
        .collectFirst {
          case one: SparkThrowable if one.getCondition == "WINOPS_POLICY_CHANGED" =>
            one.asInstanceOf[Throwable].getMessage
        }
        .getOrElse(fail(error))
      assert(text.contains(s"In the checkpoint: $name of the as-of join = $was\n"), text)
      assert(text.contains(s"In this query: $name of the as-of join = $is\n"), text)
      assert(text.contains("start with a new checkpoint"), text)
      Seq("KEEP", "lookup", "on_change", "arguments:").foreach { word =>
        assert(!text.contains(word), text)
      }
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
  }

  test("late rows that look up are emitted from a restart on", Longer) {
    continues(query(), query(", late => 'emit'"), "continues")(
      Row(2, "waits", 2L, Seq(3, 4), null),
      Row(3, "late", 2L, Seq(4, 6), null))
  }

  test("other aggregates are computed from the rows of the windows") {
    continues(query(), query(results = s"$Results, max(n) AS m"), "is rebuilt")(
      Row(2, "waits", 2L, Seq(3, 4), 4),
      Row(3, "late", 2L, Seq(4, 6), 6))
  }

  private val withoutNote: Query = (trades, asks) => query()(trades, asks.drop("note"))

  testEach[(String, Query, Query, Seq[Row])](
    "columns of the rows that look up are added and removed",
    short = 1)(
    (
      "added",
      withoutNote,
      query(),
      Seq(Row(2, null, 2L, Seq(3, 4)), Row(3, "late", 2L, Seq(4, 6)))),
    ("removed", query(), withoutNote, Seq(Row(2, 2L, Seq(3, 4)), Row(3, 2L, Seq(4, 6))))) {
    case (_, before, now, expected) => continues(before, now, "is rebuilt")(expected: _*)
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
  }

  test("the order of the rows that wait may not change back", Longer) {
    isRefused(query(", lookup_before => true"), query())
  }

  test("the columns with the time and the key of the rows that look up may not change") {
    def by(on: String, time: String): Query = (trades, asks) =>
      keepBy(trades, asks.selectExpr("*", "sym AS sym2", "placed AS placed2"), on, time)
    isRefused(by("sym", "placed"), by("sym", "placed2"))
    isRefused(by("sym", "placed"), by("sym2", "placed"))
    continues(by("sym", "placed"), by("sym", "placed"), "continues")(
      Row(2, "waits", "a", stamp(5), 2L),
      Row(3, "late", "a", stamp(7), 2L))
  }

  private def keepBy(trades: DataFrame, asks: DataFrame, on: String, time: String): DataFrame = {
    asks.createOrReplaceTempView("asks")
    keep(
      trades,
      "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS', time => 'ts', output => 'lookup', " +
        s"lookup => TABLE(asks), lookup_on => named_struct('k', '$on'), " +
        s"lookup_time => '$time', aggregates => TABLE(SELECT count(*) AS c FROM input_of_keep)")
  }

  private def near(direction: String, millis: Int): Query = (trades, asks) =>
    joinedByKey(
      asks,
      trades,
      direction = direction,
      tolerance = Interval.ofText(s"$millis milliseconds"))

  test("the tolerance and the direction of an as-of join that waits may not change") {
    isRefusedJoin(near("forward", 3000), near("forward", 4000))(
      "tolerance",
      "3 seconds",
      "4 seconds")
    isRefusedJoin(near("nearest", 3000), near("backward", 3000))(
      "direction",
      "nearest",
      "backward")
    restarted(near("backward", 3000), near("backward", 500)) { (plan, run) =>
      assert(plan.head == "continues")
      // The tolerance is tested when a row is joined: 1 second is too far now.
      assert(
        run().map(row => (row.getAs[Int]("id"), row.isNullAt(row.fieldIndex("n")))) ==
          Seq(2 -> true, 3 -> true))
    }
  }

  test("an as-of join forward may not become one of the nearest row", Longer) {
    isRefusedJoin(near("forward", 3000), near("nearest", 3000))("direction", "forward", "nearest")
  }

  test("allow_exact_matches may change, but not with the direction backward") {
    def join(direction: String, isExact: Boolean): Query = (trades, asks) =>
      joinedByKey(
        asks,
        trades,
        direction = direction,
        tolerance = Interval.ofText("3 seconds"),
        allowExactMatches = isExact)
    isRefusedJoin(join("backward", isExact = true), join("backward", isExact = false))(
      "allow_exact_matches",
      "true",
      "false")
    restarted(join("forward", isExact = true), join("forward", isExact = false)) { (plan, _) =>
      assert(plan.head == "continues")
    }
  }

  test("a lookup and an as-of join have no state in common") {
    val join: Query = (trades, asks) => joinedByKey(asks, trades)
    isRefused(query(policy = "KEEP 1 ROW"), join)
  }

  testEach("arguments of an as-of join that are those of keep may change", short = 1)(
    "left" -> "inner",
    "inner" -> "left") { case (former, how) =>
    def join(how: String, more: Boolean): Query = (trades, asks) =>
      joinedByKey(
        asks,
        trades,
        how = how,
        idle = if (more) Interval.ofText("1 day") else null,
        maxRows = if (more) 1000L else 100L,
        late = if (more) "emit" else "drop")
    restarted(join(former, more = how == "left"), join(how, more = how == "inner")) {
      (plan, run) =>
        assert(plan.toSet == Set("continues"))
        assert(
          run().map(row => (row.getAs[Int]("id"), row.getAs[Int]("n"))) ==
            Seq(2 -> 4, 3 -> 6))
    }
  }

  /** Spark's own join on a condition over the columns of both sides, by their names. */
  private def joinOn(condition: (String => Attribute) => Expression): Query = (trades, asks) => {
    val (left, right) = (PlannedQuery.planOf(asks), PlannedQuery.planOf(trades))
    def named(name: String) = (left.output ++ right.output).find(_.name == name).get
    PlannedQuery.of(
      spark,
      AsOfJoin(
        left,
        right,
        named("placed"),
        named("ts"),
        Some(condition(named)),
        LeftOuter,
        None,
        true,
        AsOfJoinDirection("backward")))
  }

  test("an expression in the condition of an as-of join may not change") {
    def join(key: Expression => Expression): Query =
      joinOn(column => EqualTo(key(column("sym")), key(column("k"))))
    // The columns that are computed of both expressions have the same names.
    isRefusedJoin(join(Lower(_)), join(Upper(_)))(
      "keys",
      "left lower(sym) with right lower(k)",
      "left upper(sym) with right upper(k)")
    restarted(join(Lower(_)), join(Lower(_)))((plan, _) => assert(plan.head == "continues"))
  }

  private def joinAbove(side: String, least: Int): Query =
    joinOn(column =>
      And(EqualTo(column("sym"), column("k")), GreaterThan(column(side), Literal(least))))

  test("a condition over the right side of an as-of join may not change, one over the left may") {
    isRefusedJoin(joinAbove("n", 0), joinAbove("n", 1))(
      "conditions over the right side",
      "(n > 0)",
      "(n > 1)")
    restarted(joinAbove("id", 0), joinAbove("id", 1)) { (plan, _) =>
      assert(plan.head == "continues")
    }
  }

  test("an as-of join with the same condition over the right side continues", Longer) {
    restarted(joinAbove("n", 1), joinAbove("n", 1)) { (plan, _) =>
      assert(plan.head == "continues")
    }
  }

  test("columns of one name are matched in their order") {
    def repeated(more: String*): Query = (trades, asks) => {
      val columns = Seq("*", "id + 10 AS x", "id + 20 AS x") ++ more
      query()(trades, asks.drop("note").selectExpr(columns: _*))
    }
    restarted(repeated(), repeated("1 AS more")) { (plan, run) =>
      assert(plan.head == "is rebuilt")
      assert(
        run().map(_.toSeq.slice(2, 6)) == Seq(Seq[Any](2, 12, 22, null), Seq[Any](3, 13, 23, 1)))
    }
  }

  test("a column with the name of that of lookups is an ordinary one without a lookup") {
    def of(fields: String): Query = (trades, _) =>
      keep(
        trades.selectExpr("*", s"$fields AS _lookup"),
        "PARTITION BY (k) ORDER BY (n), 'KEEP 2 ROWS', time => 'ts', output => 'withColumns', " +
          "aggregates => TABLE(SELECT count(*) AS id FROM input_of_keep)")
    restarted(of("named_struct('a', n)"), of("named_struct('a', n, 'b', n)")) { (plan, _) =>
      assert(plan.head == "needs history")
    }
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

  def stamp(seconds: Long): Timestamp = new Timestamp(seconds * 1000L)

  /** Applied until the time of the last one, which waits. */
  val Early: Seq[Trade] = Seq(1, 3, 4, 5).map { second =>
    Trade(Some(if (second == 5) "b" else "a"), at(second.toLong), second, None)
  }

  /** The rows of a window, as structs. */
  def rows(numbers: Int*): Seq[Row] = numbers.map { n =>
    Row("a", stamp(n.toLong), n, null)
  }
}
