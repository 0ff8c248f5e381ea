package winops.spark.execution

import java.sql.Timestamp
import java.time.Instant
import java.time.temporal.ChronoUnit

import scala.util.Random

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.catalyst.expressions.{Attribute, EqualTo, Expression, LessThan, Literal}
import org.apache.spark.sql.catalyst.plans.{AsOfJoinDirection, Inner, JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical.AsOfJoin
import org.apache.spark.sql.functions.window
import org.apache.spark.sql.types.DayTimeIntervalType
import org.apache.spark.sql.winops.testing.PlannedQuery

import winops.Interval
import winops.spark.testing.{Ask, LookupTest, RandomProperties, Trade}
import winops.testing.Longer

/** Joins as of a time, as a function and as Spark's own plan node over streams. */
class AsOfJoinSuite extends LookupTest with RandomProperties {
  import AsOfJoinSuite._
  import testImplicits._

  (1 to Runs).foreach { run =>
    property(s"a row is joined with the nearest one: run $run", Longer.unless(run <= 2): _*)(
      checkNaive)
  }

  private def checkNaive(random: Random): Unit = {
    val (trades, asks) = randomRows(random)
    Directions.foreach { direction =>
      val call = Call(
        direction,
        isExact = random.nextBoolean(),
        isInner = random.nextBoolean(),
        millis = Option.when(random.nextBoolean())(random.nextInt(6)))
      val expected = asks.map(ask => ask -> matchOf(call, trades, ask)).filter {
        case (_, found) => found.isDefined || !call.isInner
      }
      withClue(s"$call, $trades, $asks: ") {
        val joined = onTables(trades, asks)(query(call))
        assert(
          joined.map(row => (row.getAs[Int]("id"), row.getAs[Timestamp]("ts"))).toSet ==
            expected.map { case (ask, found) => (ask.id, found.map(timeOf).orNull) }.toSet)
        // The rows of the other directions have the order of their source.
        if (direction != "nearest") {
          assert(
            joined.map(row => (row.getAs[Int]("id"), intOf(row, "n"))).sorted ==
              expected.map { case (ask, found) => (ask.id, found.map(_.n)) }.sorted)
        }
        if (direction == "backward" || call.millis.isDefined) {
          // Rows of a stream arrive in another order, which decides among equal times.
          val streamed = onStreams(random, trades, asks)(query(call))
          assert(
            streamed.filter(_.getAs[Int]("id") >= 0).map(shownTimes).sorted ==
              joined.map(shownTimes).sorted)
        }
      }
    }
  }

  private def query(call: Call)(trades: DataFrame, asks: DataFrame): DataFrame = winops.asofJoin(
    asks,
    trades,
    leftOn = "placed",
    rightOn = "ts",
    leftBy = Seq("sym"),
    rightBy = Seq("k"),
    direction = call.direction,
    tolerance = call.millis.map(n => Interval.ofText(s"$n milliseconds")).orNull,
    allowExactMatches = call.isExact,
    how = if (call.isInner) "inner" else "left")

  private def shownTimes(row: Row): String = s"${row.getAs[Int]("id")} ${row.getAs[Any]("ts")}"

  private val trades = Seq(
    Trade(Some("a"), at(1), 1, Some(1.0)),
    Trade(Some("b"), at(1), 2, Some(5.0)),
    Trade(Some("a"), at(4), 4, Some(6.0)),
    Trade(None, at(1), 5, None))

  private val asks = Seq(
    Ask(Some("a"), at(1), 0, None),
    Ask(Some("a"), at(3), 1, None),
    Ask(Some("a"), at(9), 2, None),
    Ask(Some("z"), at(5), 3, None),
    Ask(None, at(5), 4, None))

  /** Spark's own join of the two, which pandas-on-Spark makes. */
  private def ofSpark(
      trades: DataFrame,
      asks: DataFrame,
      direction: String = "backward",
      isExact: Boolean = true,
      joinType: JoinType = LeftOuter,
      seconds: Option[Long] = None)(
      condition: (Attribute, Attribute) => Expression = EqualTo(_, _)): DataFrame = {
    val (left, right) = (PlannedQuery.planOf(asks), PlannedQuery.planOf(trades))
    def named(columns: Seq[Attribute], name: String) = columns.find(_.name == name).get
    val join = AsOfJoin(
      left,
      right,
      named(left.output, "placed"),
      named(right.output, "ts"),
      Some(condition(named(left.output, "sym"), named(right.output, "k"))),
      joinType,
      seconds.map(n => Literal(at(n), DayTimeIntervalType())),
      isExact,
      AsOfJoinDirection(direction))
    PlannedQuery.of(spark, join)
  }

  private def answersOf(rows: Seq[Row]): Seq[(Int, Option[Int])] =
    rows.map(row => (row.getAs[Int]("id"), intOf(row, "n"))).filter(_._1 >= 0).sorted

  test("Spark's own join over two streams has the rows of the tables") {
    Seq[((DataFrame, DataFrame) => DataFrame, Seq[(Int, Option[Int])])](
      (ofSpark(_, _)(), Seq(0 -> Some(1), 1 -> Some(1), 2 -> Some(4), 3 -> None, 4 -> None)),
      (
        ofSpark(_, _, isExact = false)(),
        Seq(0 -> None, 1 -> Some(1), 2 -> Some(4), 3 -> None, 4 -> None)),
      (ofSpark(_, _, joinType = Inner)(), Seq(0 -> Some(1), 1 -> Some(1), 2 -> Some(4))),
      (
        ofSpark(_, _, seconds = Some(3))(),
        Seq(0 -> Some(1), 1 -> Some(1), 2 -> None, 3 -> None, 4 -> None)),
      (ofSpark(_, _, joinType = Inner, seconds = Some(3))(), Seq(0 -> Some(1), 1 -> Some(1))),
      (
        ofSpark(_, _, "forward", seconds = Some(3))(),
        Seq(0 -> Some(1), 1 -> Some(4), 2 -> None, 3 -> None, 4 -> None)),
      (
        ofSpark(_, _, "forward", isExact = false, joinType = Inner, seconds = Some(3))(),
        Seq(1 -> Some(4)))).zipWithIndex.foreach { case ((query, expected), i) =>
      withClue(s"case $i: ") {
        assert(answersOf(onTables(trades, asks)(query)) == expected)
        assert(answersOf(onStreams(new Random(i), trades, asks)(query)) == expected)
      }
    }
  }

  test("the join has Spark's columns, and an aggregation may follow") {
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val joined = ofSpark(timedTrades(ofTrades, "0 seconds"), timedAsks(ofAsks, "0 seconds"))()
    val ofTables = ofSpark(tradesOf(trades.toDF()), asksOf(asks.toDF()))()
    assert(joined.columns.toSeq == ofTables.columns.toSeq)
    val counts = joined.groupBy(window($"placed", "10 seconds")).count()
    ofTrades.addData(trades :+ Trade(Some("end"), at(99), 99, None))
    ofAsks.addData(asks :+ Ask(Some("end"), at(99), 99, None))
    val written = inTempDir(runAll(counts.select("count"), _))
    assert(written.rows == Seq(Row(asks.size.toLong)))
  }

  test("a stream joins itself, and equal names get suffixes") {
    val stream = memoryStream[Trade]
    val timed = timedTrades(stream, "0 seconds")
    val joined =
      winops.asofJoin(timed, timed, on = "ts", by = Seq("k"), allowExactMatches = false)
    assert(joined.columns.toSeq == Seq("k", "ts", "n_x", "x_x", "n_y", "x_y"))
    stream.addData(trades :+ Trade(Some("end"), at(99), 99, None))
    val written = inTempDir(runAll(joined, _))
    val found = written.rows.map(row => (row.getAs[Int]("n_x"), intOf(row, "n_y"))).sorted
    assert(found == Seq(1 -> None, 2 -> None, 4 -> Some(1), 5 -> None))
  }

  test("joins that a stream cannot have are refused") {
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val (trades, asks) = (timedTrades(ofTrades), timedAsks(ofAsks))
    def startFails(df: => DataFrame, part: String): Unit = inTempDir { checkpoint =>
      val error = intercept[AnalysisException](start(df, checkpoint, new Written))
      assert(error.getCondition == "WINOPS_ASOF_JOIN" && error.getMessage.contains(part), error)
    }
    startFails(ofSpark(trades, asks, "forward")(), "may come later")
    startFails(ofSpark(trades, asks, "nearest")(), "does not compare")
    startFails(ofSpark(trades, asks)(LessThan(_, _)), "no equality")
    def callFails(condition: String, part: String)(df: => DataFrame): Unit = {
      val error = intercept[Exception](df)
      assert(error.asInstanceOf[SparkThrowable].getCondition == condition, error)
      assert(error.getMessage.contains(part), error.getMessage)
    }
    val table = asksOf(Seq.empty[Ask].toDF())
    callFails("WINOPS_ASOF_JOIN", "forward")(query(Call("forward"))(trades, asks))
    callFails("WINOPS_ASOF_JOIN", "a stream and the other one a table") {
      query(Call("backward"))(trades, table)
    }
    callFails("WINOPS_LOOKUP", "a table looks up")(ofSpark(trades, table)())
    callFails("WINOPS_WATERMARK_REQUIRED", "placed") {
      query(Call("backward"))(trades, asksOf(ofAsks.toDF()))
    }
    callFails("WINOPS_ARGUMENT.VALUE", "direction")(query(Call("sideways"))(trades, asks))
    callFails("WINOPS_ARGUMENT.MISSING", "on")(winops.asofJoin(asks, trades))
    callFails("WINOPS_TIME_TYPE", "id") {
      winops.asofJoin(asks, trades, leftOn = "id", rightOn = "n")
    }
    callFails("WINOPS_UNKNOWN_COLUMN", "when") {
      winops.asofJoin(asks, trades, leftOn = "when", rightOn = "ts")
    }
  }
}

private object AsOfJoinSuite {
  private val Runs = 8

  val Directions: Seq[String] = Seq("backward", "forward", "nearest")

  final case class Call(
      direction: String,
      isExact: Boolean = true,
      isInner: Boolean = false,
      millis: Option[Int] = None)

  /** Microseconds of a time in seconds. */
  def at(seconds: Long): Long = seconds * 1000000L

  def timeOf(trade: Trade): Timestamp =
    Timestamp.from(Instant.EPOCH.plus(trade.micros, ChronoUnit.MICROS))

  def intOf(row: Row, name: String): Option[Int] =
    Option.when(!row.isNullAt(row.fieldIndex(name)))(row.getAs[Int](name))

  /** The trade that a call joins with an ask. */
  def matchOf(call: Call, trades: Seq[Trade], ask: Ask): Option[Trade] = {
    def distance(trade: Trade): Long = Math.abs(trade.micros - ask.micros)
    val known = trades.filter { trade =>
      trade.k.isDefined && trade.k == ask.sym &&
      (call.isExact || trade.micros != ask.micros) &&
      call.millis.forall(most => distance(trade) <= most * 1000L)
    }
    // Of equal times, the last row matches.
    val before = known.filter(_.micros <= ask.micros).maxByOption(row => (row.micros, row.n))
    val behind = known.filter(_.micros >= ask.micros).maxByOption(row => (-row.micros, row.n))
    call.direction match {
      case "backward" => before
      case "forward" => behind
      case _ => (before ++ behind).minByOption(distance)
    }
  }
}
