package org.apache.spark.sql.winops.live

import org.apache.spark.SparkContext

/** Spark's queue of events for listeners, which only Spark's packages can access. */
object LiveBus {

  /** Waits until the listeners have received all events. */
  def drain(context: SparkContext): Unit = context.listenerBus.waitUntilEmpty()
}
