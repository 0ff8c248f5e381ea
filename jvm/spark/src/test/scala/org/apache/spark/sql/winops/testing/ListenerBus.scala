package org.apache.spark.sql.winops.testing

import org.apache.spark.SparkContext

/** The queue of events for listeners, which they are given after what they tell has happened. */
object ListenerBus {
  def drain(context: SparkContext): Unit = context.listenerBus.waitUntilEmpty()
}
