package winops.peers.process

import java.util.concurrent.Future

/** A file's rows, in order; later rows may still be loading. */
final class MicroBatch(reading: IndexedSeq[Future[Block]]) {

  def foreachBlock(take: Block => Unit): Unit = reading.foreach(each => take(each.get))

  /** The greatest time, after all rows are loaded. */
  lazy val newestMicros: Long = reading.iterator.map(_.get.micros.max).max

  lazy val newestMillis: Long = Math.floorDiv(newestMicros, 1000L)

  lazy val rows: Long = reading.iterator.map(_.get.rows.toLong).sum
}
