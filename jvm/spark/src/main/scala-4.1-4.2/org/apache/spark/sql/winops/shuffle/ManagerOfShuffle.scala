package org.apache.spark.sql.winops.shuffle

import org.apache.spark.SparkEnv
import org.apache.spark.shuffle.ShuffleManager

/** The manager of shuffles that are written before they are read. */
private[shuffle] object ManagerOfShuffle {
  def get: ShuffleManager = SparkEnv.get.shuffleManager
}
