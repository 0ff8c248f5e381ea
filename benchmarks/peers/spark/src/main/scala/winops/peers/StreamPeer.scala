package winops.peers

import org.apache.spark.sql.DataFrame

/** A hand-written implementation of the windows; `trades` has the columns of [[Trade]]. */
trait StreamPeer {

  /** The changes of the last `rows` rows of each key. */
  def rows(trades: DataFrame, rows: Int): DataFrame

  /** The changes of the rows of the last `millis` milliseconds of each key. */
  def time(trades: DataFrame, millis: Int): DataFrame

  /** Each row with mean, least and greatest price of the last `rows` rows of its key. */
  def aggregates(trades: DataFrame, rows: Int): DataFrame
}

/** All implementations, for access from Python. */
object SparkPeers {
  def listState: StreamPeer = ListStatePeer

  def packed: StreamPeer = PackedPeer

  def ring: StreamPeer = RingPeer

  def groupState: StreamPeer = GroupStatePeer
}
