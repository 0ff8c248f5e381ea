package winops.peers

import org.apache.spark.sql.DataFrame

/** A way of writing the windows by hand; `trades` has the columns of [[Trade]]. */
trait StreamPeer {

  /** Changes of the last `rows` rows of each key. */
  def rows(trades: DataFrame, rows: Int): DataFrame

  /** Changes of the rows of the last `millis` milliseconds of each key. */
  def time(trades: DataFrame, millis: Int): DataFrame

  /** Each row with mean, least and greatest price of the last `rows` rows of its key. */
  def aggregates(trades: DataFrame, rows: Int): DataFrame
}

/** All that there are, as Python reaches them. */
object SparkPeers {
  def listState: StreamPeer = ListStatePeer

  def packed: StreamPeer = PackedPeer

  def groupState: StreamPeer = GroupStatePeer
}
