package org.apache.spark.sql.winops.testing

import org.apache.spark.SparkContext

/** The asynchronous queue of events for Spark's listeners. */
object ListenerBus {
  def drain(context: SparkContext): Unit = context.listenerBus.waitUntilEmpty()
}
