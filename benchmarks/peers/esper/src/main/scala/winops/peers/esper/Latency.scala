package winops.peers.esper

import com.espertech.esper.runtime.client.UpdateListener

import winops.peers.{RowLatencies, SteadyFeed}

/** Measures the time from the moment at which a program has a row to that at which a listener in
  * the same process gets its insert. Prints the percentiles in milliseconds.
  *
  * Nothing is between the program and the engine: no source, no shuffle, no other thread. So it
  * is the least that an answer takes.
  *
  * Arguments: the candidate, rows per second, seconds that are measured, rows of a window, and
  * the number of keys.
  */
object Latency {
  def main(arguments: Array[String]): Unit = {
    val Array(candidate, rate, seconds, window, keys) = arguments: @unchecked
    val latencies = new RowLatencies
    val listener: UpdateListener = (entering, _, _, _) => {
      val now = System.nanoTime
      if (entering != null) {
        entering.foreach { event =>
          val trade = event.getUnderlying.asInstanceOf[Trade]
          latencies.add(trade.seq, now - trade.ts)
        }
      }
    }
    val statement = Statement.of("groupwin", "rows", window.toInt)
    val events = KeysRuntime.deployed("latency", statement, listener).getEventService
    val sender = events.getEventSender("Trade")
    def send(key: Int, number: Long): Unit =
      sender.sendEvent(new Trade(key.toLong, number, number.toDouble, 1L, System.nanoTime))
    val feed = new SteadyFeed(rate.toInt, keys.toInt, send)
    val warm = feed.run(SteadyFeed.WarmUpSeconds)
    val end = feed.run(seconds.toInt)
    println(latencies.line(candidate, rate, warm, end))
  }
}
