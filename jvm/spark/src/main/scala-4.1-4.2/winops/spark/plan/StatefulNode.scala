package winops.spark.plan

import org.apache.spark.sql.catalyst.plans.logical.UnaryNode

/** A logical node whose operator has state on a stream. From 4.3 on, Spark asks nodes for it. */
trait StatefulNode extends UnaryNode
