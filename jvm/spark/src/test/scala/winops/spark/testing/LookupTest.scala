package winops.spark.testing

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.timestamp_micros

import winops.Interval
import winops.spark.plan.OperatorSpec

/** A row of a window; `micros` is its time in microseconds since the epoch. */
final case class Trade(k: Option[String], micros: Long, n: Int, x: Option[Double])

/** A row that looks the window up. */
final case class Ask(sym: Option[String], micros: Long, id: Int, note: Option[String])

/** Queries in which [[Ask]]s look up windows of [[Trade]]s, over tables and over streams. */
trait LookupTest extends KeepStreamTest {
  import LookupTest.NaiveLookup
  import testImplicits._

  /** One window of each kind of CCL, with random sizes. */
  protected def naiveLookups(random: Random): Seq[NaiveLookup] = {
    val n = 1 + random.nextInt(4)
    val millis = 1L + random.nextInt(12)
    def milli(micros: Long): Long = micros / 1000
    Seq(
      NaiveLookup("KEEP ALL", (rows, _) => rows),
      NaiveLookup(s"KEEP $n ROWS", (rows, _) => rows.takeRight(n)),
      NaiveLookup(s"KEEP EVERY $n ROWS", (rows, _) => rows.takeRight((rows.size - 1) % n + 1)),
      NaiveLookup(
        s"KEEP $millis MILLISECONDS",
        (rows, at) => rows.filter(row => milli(at) - milli(row.micros) < millis)),
      NaiveLookup(
        s"KEEP EVERY $millis MILLISECONDS",
        (rows, at) => rows.filter(row => milli(row.micros) / millis == milli(at) / millis)))
  }

  /** Trades and asks of few keys at few times, so that many have equal times. NULL is a key, and
    * some asks have a key without trades.
    */
  protected def randomRows(random: Random): (Seq[Trade], Seq[Ask]) = {
    def key(names: String): Option[String] =
      Option.when(random.nextInt(6) > 0)(names(random.nextInt(names.length)).toString)
    def micros(): Long = LookupTest.Start + random.nextInt(60) * 500L
    val trades = (0 until 10 + random.nextInt(40)).map { n =>
      Trade(key("ab"), micros(), n, Option.when(random.nextInt(5) > 0)(random.nextGaussian()))
    }
    val asks = (0 until 10 + random.nextInt(40)).map { id =>
      Ask(key("abz"), micros(), id, Option.when(random.nextBoolean())(s"note $id"))
    }
    (trades, asks)
  }

  /** The trades with numbers that fall, so that the bytes of trades of one time sort in the
    * reverse of their order.
    */
  protected def renumbered(trades: Seq[Trade]): Seq[Trade] =
    trades.map(trade => trade.copy(n = trades.size - trade.n))

  /** For each ask that is answered, the trades that its window holds as of its time. Trades of
    * one time have their order in `trades`.
    */
  protected def naiveAnswers(
      window: NaiveLookup,
      trades: Seq[Trade],
      asks: Seq[Ask],
      before: Boolean,
      isInner: Boolean): Seq[(Ask, Seq[Trade])] = asks
    .map { ask =>
      val known = trades
        .filter(_.k == ask.sym)
        .filter(row => if (before) row.micros < ask.micros else row.micros <= ask.micros)
        .sortBy(_.micros)
      ask -> window.held(known, ask.micros)
    }
    .filter { case (_, held) => held.nonEmpty || !isInner }

  /** The table or stream of trades with the time `ts`. */
  protected def tradesOf(df: DataFrame): DataFrame =
    df.select($"k", timestamp_micros($"micros").as("ts"), $"n", $"x")

  /** The table or stream of asks with the time `placed`. */
  protected def asksOf(df: DataFrame): DataFrame =
    df.select($"sym", timestamp_micros($"micros").as("placed"), $"id", $"note")

  /** Looks windows of `trades` up by `asks`; `arguments` is the SQL after the output, and `order`
    * that between the key and the window.
    */
  protected def lookup(
      trades: DataFrame,
      asks: DataFrame,
      policy: String,
      arguments: String,
      order: String = " ORDER BY (n)"): DataFrame = {
    asks.createOrReplaceTempView("asks")
    keep(
      trades,
      s"PARTITION BY (k)$order, $policy, time => 'ts', output => 'lookup', " +
        s"lookup => TABLE(asks), lookup_on => named_struct('k', 'sym'), " +
        s"lookup_time => 'placed', $arguments")
  }

  /** Joins each ask with the trade of its key that is the nearest in time. */
  protected def joinedByKey(
      asks: DataFrame,
      trades: DataFrame,
      direction: String = "backward",
      tolerance: Interval = null,
      allowExactMatches: Boolean = true,
      how: String = "left",
      idle: Interval = null,
      maxRows: Long = OperatorSpec.DefaultMaxRows,
      atEnd: String = "wait",
      late: String = "drop"): DataFrame = winops.asofJoin(
    asks,
    trades,
    leftOn = "placed",
    rightOn = "ts",
    leftBy = Seq("sym"),
    rightBy = Seq("k"),
    direction = direction,
    tolerance = tolerance,
    allowExactMatches = allowExactMatches,
    how = how,
    idle = idle,
    maxRows = maxRows,
    atEnd = atEnd,
    late = late)

  protected def onTables(trades: Seq[Trade], asks: Seq[Ask])(
      query: (DataFrame, DataFrame) => DataFrame): Seq[Row] =
    query(tradesOf(trades.toDF()), asksOf(asks.toDF())).collect().toSeq

  /** The output for rows that arrive in a random order, in random micro-batches, between some of
    * which the query is started anew. No row is late.
    *
    * @param inOrder
    *   true if trades arrive in their order, as the rows of a table have it
    */
  protected def onStreams(
      random: Random,
      trades: Seq[Trade],
      asks: Seq[Ask],
      inOrder: Boolean = false)(query: (DataFrame, DataFrame) => DataFrame): Seq[Row] = {
    val (ofTrades, ofAsks) = (memoryStream[Trade], memoryStream[Ask])
    val written = new Written
    val all: Seq[Either[Trade, Ask]] = trades.map(Left(_)) ++ asks.map(Right(_))
    val shuffled = random.shuffle(all)
    val rows = if (inOrder) LookupTest.withTrades(shuffled, trades) else shuffled
    val batches = rows.grouped(1 + random.nextInt(rows.size)).toSeq :+ LookupTest.Heartbeats
    withTempDir { checkpoint =>
      val starts = batches.grouped(1 + random.nextInt(batches.size)).toSeq
      starts.foreach { batches =>
        val result = query(timedTrades(ofTrades), timedAsks(ofAsks))
        val running = start(result, checkpoint.getCanonicalPath, written)
        try {
          batches.foreach { batch =>
            ofTrades.addData(batch.collect { case Left(trade) => trade })
            ofAsks.addData(batch.collect { case Right(ask) => ask })
            running.processAllAvailable()
          }
        } finally running.stop()
      }
    }
    written.rows
  }

  protected def timedTrades(
      stream: MemoryStream[Trade],
      delay: String = LookupTest.Delay): DataFrame =
    tradesOf(stream.toDF()).withWatermark("ts", delay)

  protected def timedAsks(
      stream: MemoryStream[Ask],
      delay: String = LookupTest.Delay): DataFrame =
    asksOf(stream.toDF()).withWatermark("placed", delay)
}

object LookupTest {

  /** A window and which of the rows up to a time it holds then.
    *
    * @param held
    *   returns the rows of a group that are held, of those up to a time in microseconds, in order
    */
  final case class NaiveLookup(policy: String, held: (Seq[Trade], Long) => Seq[Trade])

  /** The rows with other trades in the places of theirs. */
  private def withTrades(
      rows: Seq[Either[Trade, Ask]],
      trades: Seq[Trade]): Seq[Either[Trade, Ask]] = {
    val next = trades.iterator
    rows.map {
      case Left(_) => Left(next.next())
      case ask => ask
    }
  }

  val Start = 10000000L

  /** More than the time that all random rows have. */
  val Delay = "1 minute"

  private val End = 1000000000L

  /** A row of each stream after which the watermark has passed all others. */
  val Heartbeats: Seq[Either[Trade, Ask]] =
    Seq(Left(Trade(Some("end"), End, -1, None)), Right(Ask(Some("end"), End, -1, None)))
}
