package org.apache.spark.sql.winops.shuffle

import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec

/** Shuffles whose rows are read while others are written, which Spark has from 4.3 on. */
private[shuffle] object PipelinedShuffle {
  def is(exchange: ShuffleExchangeExec): Boolean = false
}
