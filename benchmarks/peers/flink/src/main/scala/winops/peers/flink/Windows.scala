package winops.peers.flink

import java.lang.{Iterable => JIterable, Long => JLong}

import scala.jdk.CollectionConverters._

import org.apache.flink.streaming.api.datastream.{KeyedStream, SingleOutputStreamOperator}
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction
import org.apache.flink.streaming.api.windowing.assigners.GlobalWindows
import org.apache.flink.streaming.api.windowing.evictors.{CountEvictor, TimeEvictor}
import org.apache.flink.streaming.api.windowing.triggers.CountTrigger
import org.apache.flink.streaming.api.windowing.windows.GlobalWindow
import org.apache.flink.util.Collector

/** Flink's own windows: a global window for each key, triggered by each row, then cut by an
  * evictor.
  */
object Windows {
  private type Contents = ProcessWindowFunction[Trade, Answer, JLong, GlobalWindow]

  def rows(trades: KeyedStream[Trade, JLong], rows: Int): SingleOutputStreamOperator[Answer] =
    atEachRow(trades).evictor(CountEvictor.of(rows.toLong, true)).process(new ChangesOfRows(rows))

  def time(trades: KeyedStream[Trade, JLong], millis: Int): SingleOutputStreamOperator[Answer] =
    atEachRow(trades)
      .evictor(TimeEvictor.of(java.time.Duration.ofMillis(millis.toLong), true))
      .process(new ChangesOfTime(millis))

  def aggregates(
      trades: KeyedStream[Trade, JLong],
      rows: Int): SingleOutputStreamOperator[Answer] =
    atEachRow(trades).evictor(CountEvictor.of(rows.toLong)).process(new Means)

  private def atEachRow(trades: KeyedStream[Trade, JLong]) =
    trades.window(GlobalWindows.create()).trigger(CountTrigger.of[GlobalWindow](1))

  /** Emits the changes before the evictor runs, so the rows to evict are still present. */
  private class ChangesOfRows(rows: Int) extends Contents {
    override def process(
        key: JLong,
        context: Contents#Context,
        contents: JIterable[Trade],
        out: Collector[Answer]): Unit = {
      val answer = new Answer
      val trades = contents.asScala.toArray
      out.collect(answer.insert(trades.last))
      trades.take(trades.length - rows).foreach(trade => out.collect(answer.delete(trade)))
    }
  }

  /** Emits the changes before the evictor runs; Flink's timestamps are whole milliseconds. */
  private class ChangesOfTime(millis: Int) extends Contents {
    override def process(
        key: JLong,
        context: Contents#Context,
        contents: JIterable[Trade],
        out: Collector[Answer]): Unit = {
      val answer = new Answer
      val trades = contents.asScala.toArray
      val kept = Math.floorDiv(trades.last.micros, 1000L) - millis
      out.collect(answer.insert(trades.last))
      trades
        .takeWhile(trade => Math.floorDiv(trade.micros, 1000L) <= kept)
        .foreach(trade => out.collect(answer.delete(trade)))
    }
  }

  private class Means extends Contents {
    override def process(
        key: JLong,
        context: Contents#Context,
        contents: JIterable[Trade],
        out: Collector[Answer]): Unit = {
      var newest: Trade = null
      var count = 0
      var sum = 0.0
      var low = Double.PositiveInfinity
      var high = Double.NegativeInfinity
      contents.forEach { trade =>
        newest = trade
        count += 1
        sum += trade.price
        low = math.min(low, trade.price)
        high = math.max(high, trade.price)
      }
      out.collect(new Answer().averaged(newest, sum / count, low, high))
    }
  }
}
