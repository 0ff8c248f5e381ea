package winops.spark.plan

import org.apache.spark.sql.catalyst.plans.logical.UnaryNode

/** A logical node whose operator has state on a stream. */
trait StatefulNode extends UnaryNode {

  // In real-time mode, Spark writes the progress of queries without state asynchronously.
  override def isStateful: Boolean = isStreaming
}
