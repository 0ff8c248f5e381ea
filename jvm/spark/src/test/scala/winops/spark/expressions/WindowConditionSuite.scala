package winops.spark.expressions

import scala.collection.mutable
import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeRow}
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.sql.winops.internal.WinopsRuntimeException

import winops.spark.row.StoredRows
import winops.spark.testing.{EvaluatedRows, ViewOf}
import winops.window.expression.{RowCondition, WindowView}
import winops.window.piece.Fails

/** Conditions on rows and on their windows. */
class WindowConditionSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import EvaluatedRows._
  import WindowConditionSuite._

  private val removed = Seq(
    (standard, "current_count <= 2", "- - 1 2 3 4 5 6 7 8 9"),
    (standard, "true", "- - - - - - - - - - -"),
    (standard, "cast(null as boolean)", "1 2 3 4 5 6 7 8 9 10 11"),
    (standard, "null", "1 2 3 4 5 6 7 8 9 10 11"),
    (
      standard,
      "oldest_timestamp > newest_timestamp - 2000",
      "- - - - - 1 - 2,3,4,5 6,7 - 8,9,10"),
    (standard, "newest_event.symbol = oldest_event.symbol", "- - 1,2 - 3,4 5 - - 6,7,8 9,10 -"),
    (standard, "current_count <= 3 or expired_count >= 1", "- - - 1 2 3 4 5 6 7 8"),
    (prices(10, 20, 30, 36, 100, 5, 6, 40), Gap, "- - - 1 2,3,4 - - -"),
    (symbols("A", "B", "A", "B", "B", "A"), "symbol != 'B'", "- - - - - -"),
    (prices(40, 50, 10, 1, 100, 101, 99), "sum(price) <= 100", "- - - 1 2,3,4 5,6 -"),
    (prices(10, 40, 50, 10, 20, 90, 90, 1), "avg(price) < 30", "- - 1,2,3 - - 4,5,6 7 -"),
    (prices(1, 3, 5, 6, 2, 9), "max(price) - min(price) < 5", "- - - 1 - 2,3,4,5"),
    (prices(40, 50, 10, 1, 1, 1), "sum(price) <= 100 and current_count < 5", "- - - 1 - 2"),
    (prices(10, 20, 30, 40), "sum(price) < 4 * oldest_event.price", "- - 1 2"))

  removed.foreach { case (rows, condition, expected) =>
    test(s"expr [$condition] over ${rows.size} rows removes $expected") {
      assert(Expr(rows, condition) == lists(expected))
    }
  }

  private val posted = Seq(
    "current_count >= 3" -> "1,2,3 4,5,6 7,8,9",
    "current_count > 3" -> "1,2,3,4 5,6,7,8",
    "symbol = 'B'" -> "1,2,3 4",
    "newest_event.symbol != oldest_event.symbol" -> "1,2,3 4,5 6,7,8,9",
    "newest_event.id = id and id > 2" -> "1,2,3 4 5 6 7 8 9 10 11",
    "newest_timestamp - oldest_timestamp >= 2000" -> "1,2,3,4,5,6 7,8,9 10,11",
    "newest_timestamp - oldest_timestamp > 1000" -> "1,2,3,4,5 6,7,8 9,10,11",
    "expired_count = 0 and current_count = 2" -> "1,2 3,4 5,6 7,8 9,10",
    "view_reference is not null and current_count >= 2" -> "1,2 3,4 5,6 7,8 9,10",
    "view_reference is null or current_count >= 5" -> "1,2,3,4,5 6,7,8,9,10",
    "count(*) >= 2" -> "1,2 3,4 5,6 7,8 9,10",
    "true" -> "1 2 3 4 5 6 7 8 9 10 11")

  posted.foreach { case (condition, expected) =>
    test(s"expr_batch [$condition] posts $expected") {
      assert(Batch(standard, condition) == lists(expected))
    }
  }

  test("aggregates of every kind are those of a plain loop, nulls included") {
    val price = Gen.option(Gen.oneOf(0.0, -0.0, 1.0, 2.5, -3.0, Double.NaN))
    val volume = Gen.option(Gen.choose(0L, 3L))
    forAll(Gen.nonEmptyListOf(Gen.zip(price, volume)), Gen.long) { (trades, seed) =>
      val rows = new EvaluatedRows(EvaluatedRows.trades)
      trades.foreach { case (price, volume) =>
        rows.add(
          0,
          1L,
          null,
          price.fold[Any](null)(identity),
          volume.fold[Any](null)(identity),
          0L)
      }
      val random = new Random(seed)
      val without =
        trades.indices.filter(_ => random.nextInt(4) == 0).map(_.toLong).toSet -- Set(0L)
      val view = ViewOf(rows, 0, 0, trades.size - 1L, without = without)
      val seen = trades.zipWithIndex.collect { case (t, i) if !without(i.toLong) => t }
      val volumes = seen.flatMap(_._2)
      val prices = seen.flatMap(_._1)
      val distinct = prices.map(p => if (p == 0.0) "0" else p.toString).distinct.size
      val distinctSum = volumes.distinct.sum
      val paired = seen.collect { case (Some(p), Some(v)) if v > 1 => p }.size
      val median =
        if (volumes.isEmpty) None else Some(volumes.sorted.apply((volumes.size - 1) / 2))
      Seq(
        s"count(*) = ${seen.size} and current_count = count(1)",
        s"count(price) = ${prices.size}",
        s"count(distinct price) = $distinct",
        s"sum(volume) <=> ${sql(volumes.reduceOption(_ + _))}",
        s"coalesce(sum(distinct volume), 0) = $distinctSum",
        s"min(volume) <=> ${sql(volumes.minOption)}",
        s"max(volume) <=> ${sql(volumes.maxOption)}",
        s"count(price) filter (where volume > 1) = $paired",
        s"count_if(volume > 1) = ${volumes.count(_ > 1)}",
        s"size(collect_list(volume)) = ${volumes.size}",
        s"size(collect_set(volume)) = ${volumes.distinct.size}",
        s"first(volume) <=> ${sql(seen.head._2)} and last(volume) <=> ${sql(seen.last._2)}",
        s"percentile_disc(0.5) within group (order by volume) <=> ${sql(median)}",
        s"approx_count_distinct(volume) = ${volumes.distinct.size}").foreach { text =>
        assert(condition(rows, text).holds(view), s"$text over $seen")
      }
    }
  }

  test("an aggregate starts anew in every window") {
    val rows = new EvaluatedRows(trades)
    Seq("b", "a", "c").foreach(s => rows.add(0, 1L, text(s), 1.0, 1L, 0L))
    val smallest = condition(rows, "min(symbol) = symbol and count(distinct symbol) = 2")
    assert(smallest.holds(ViewOf(rows, 1, 0, 1)))
    assert(!smallest.holds(ViewOf(rows, 0, 0, 1)))
    assert(smallest.holds(ViewOf(rows, 1, 1, 2)))
    val none = condition(rows, "sum(volume) filter (where symbol = 'z') is null")
    assert(none.holds(ViewOf(rows, 0, 0, 2)))
  }

  test("a condition reads what it names, and goes through the window only for aggregates") {
    val rows = new EvaluatedRows(trades)
    (1L to 3L).foreach(i => rows.add(i, i, text("a"), 1.0, 1L, 0L))
    def touched(sql: String): (Set[Long], Boolean) = {
      val read = mutable.Set.empty[Long]
      val source = computed(sql)
      val stored: StoredRows = (row: UnsafeRow, ordinal: Long) => {
        read += ordinal
        rows.stored.pointTo(row, ordinal)
      }
      val expressions = resolved(bounded(Fails(source)), trades).ofRows
      val holds = new RowEvaluator(expressions, trades, stored).condition(source)
      var walked = false
      val view = new Watched(ViewOf(rows, 1, 0, 2), () => walked = true)
      assert(holds.holds(view), sql)
      (read.toSet, walked)
    }
    assert(touched("true") == ((Set.empty, false)))
    assert(touched("current_count = 3 and newest_timestamp > 0") == ((Set.empty, false)))
    assert(touched("price = 1") == ((Set(1L), false)))
    assert(touched("newest_event.id = 3") == ((Set(2L), false)))
    assert(touched("oldest_event.id < id and id < newest_event.id") == ((Set(0L, 1L, 2L), false)))
    assert(touched("sum(price) = 3") == ((Set(0L, 1L, 2L), true)))
  }

  test("columns of any type, and strange names, are read where a condition has them") {
    val inner = new StructType().add("x y", StringType).add("n", IntegerType)
    val columns = Seq(
      AttributeReference("a.b", StringType)(),
      AttributeReference("in`ner", inner)(),
      AttributeReference("list", ArrayType(LongType))(),
      AttributeReference("map", MapType(StringType, DecimalType(30, 2)))(),
      AttributeReference("sum", DoubleType)(),
      AttributeReference("Sum", DoubleType)(),
      AttributeReference("current_count", StringType)())
    val rows = new EvaluatedRows(columns)
    val amount = Decimal(BigDecimal("12.34"), 30, 2)
    val map = ArrayBasedMapData(Array[Any](text("k")), Array[Any](amount))
    rows.add(
      5,
      text("p"),
      InternalRow(text("q"), 4),
      new GenericArrayData(Seq[Any](1L, 2L)),
      map,
      1.0,
      -1.0,
      text("mine"))
    Seq(
      "`a.b` = 'p' and newest_event.`a.b` = 'p'",
      "`in``ner`.`x y` = 'q' and oldest_event.`in``ner`.n + 1 = 5",
      "list[1] = 2 and exists(list, x -> x = newest_event.list[0])",
      "map['k'] > 12.3 and max(map['k']) = 12.34",
      "sum = 1 and Sum = -1 and sum(sum) = 1 and sum(Sum) = -1",
      "current_count = 1 and newest_event.current_count = 'mine'",
      "oldest_event is not null and newest_timestamp = 5",
      "cast(current_count as string) between '1' and '2'").foreach { text =>
      assert(condition(rows, text).holds(ViewOf(rows, 0, 0, 0)), text)
    }
  }

  test("what fails under ANSI mode fails the query, not the window") {
    val rows = new EvaluatedRows(trades)
    rows.add(0, 1L, text("a"), 1.0, 0L, 0L)
    val division = condition(rows, "1 / volume > 0")
    val error = intercept[WinopsRuntimeException](division.holds(ViewOf(rows, 0, 0, 0)))
    assert(error.getCondition == "WINOPS_EXPRESSION")
    assert(error.getMessageParameters.get("reason") == "DIVIDE_BY_ZERO")
    assert(!condition(rows, "try_divide(1, volume) > 0").holds(ViewOf(rows, 0, 0, 0)))
  }

  test("conditions are the same where nothing can be compiled") {
    val interpreted = SQLConf.get.clone()
    interpreted.setConfString("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    SQLConf.withExistingConf(interpreted) {
      removed.foreach { case (rows, condition, expected) =>
        assert(Expr(rows, condition) == lists(expected), condition)
      }
    }
  }
}

private object WindowConditionSuite {
  import EvaluatedRows._

  final case class Trade(at: Long, id: Long, symbol: String, price: Double)

  val Gap = "newest_event.price - oldest_event.price < 25"

  val standard: Seq[Trade] = {
    val at = Seq[Long](0, 100, 200, 1000, 1500, 2000, 2000, 3999, 4000, 4001, 9000)
    val symbols = Seq("A", "A", "B", "B", "A", "C", "C", "C", "A", null, "A")
    at.zip(symbols).zipWithIndex.map { case ((at, symbol), i) =>
      Trade(at, i + 1L, symbol, 10.0 * (i + 1))
    }
  }

  def prices(prices: Double*): Seq[Trade] =
    prices.zipWithIndex.map { case (price, i) => Trade(i.toLong, i + 1L, "A", price) }

  def symbols(symbols: String*): Seq[Trade] =
    symbols.zipWithIndex.map { case (symbol, i) => Trade(i.toLong, i + 1L, symbol, 1.0) }

  def condition(rows: EvaluatedRows, sql: String): RowCondition = {
    val source = computed(sql)
    rows.evaluator(bounded(Fails(source))).condition(source)
  }

  /** Parses lists: `1,2 - 3` is a list of 1 and 2, an empty list, and a list of 3. */
  def lists(text: String): Seq[Seq[Long]] = text.split(' ').toSeq.map {
    case "-" => Nil
    case ids => ids.split(',').toSeq.map(_.toLong)
  }

  def sql(value: Option[Long]): String = value.fold("null")(_.toString)

  private def stored(trades: Seq[Trade]): EvaluatedRows = {
    val rows = new EvaluatedRows(EvaluatedRows.trades)
    trades.foreach { trade =>
      val symbol = Option(trade.symbol).map(text).orNull
      rows.add(trade.at, trade.id, symbol, trade.price, trade.id, trade.at)
    }
    rows
  }

  /** The rows that `expr` evicts at each row: the oldest rows while the condition is false. */
  object Expr {
    def apply(trades: Seq[Trade], sql: String): Seq[Seq[Long]] = {
      val rows = stored(trades)
      val keeps = condition(rows, sql)
      var oldest = 0L
      trades.indices.map { newest =>
        val first = oldest
        while (oldest <= newest &&
          !keeps.holds(ViewOf(rows, oldest, oldest, newest.toLong, oldest - first))) {
          oldest += 1
        }
        (first until oldest).map(i => trades(i.toInt).id)
      }
    }
  }

  /** The rows that `expr_batch` emits: all rows up to one for which the condition is true. */
  object Batch {
    def apply(trades: Seq[Trade], sql: String): Seq[Seq[Long]] = {
      val rows = stored(trades)
      val posts = condition(rows, sql)
      var oldest = 0L
      trades.indices.flatMap { newest =>
        val row = newest.toLong
        if (posts.holds(ViewOf(rows, row, oldest, row))) {
          val batch = (oldest to row).map(i => trades(i.toInt).id)
          oldest = row + 1
          Some(batch)
        } else None
      }
    }
  }

  /** A view that reports iterations over its rows. */
  final class Watched(view: WindowView, onWalk: () => Unit) extends WindowView {
    override def examined: Long = view.examined
    override def oldest: Long = view.oldest
    override def newest: Long = view.newest
    override def oldestArrival: Long = view.oldestArrival
    override def newestArrival: Long = view.newestArrival
    override def count: Long = view.count
    override def expired: Long = view.expired
    override def after(ordinal: Long): Long = {
      onWalk()
      view.after(ordinal)
    }
  }
}
