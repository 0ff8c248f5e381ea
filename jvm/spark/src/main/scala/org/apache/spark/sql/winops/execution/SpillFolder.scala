package org.apache.spark.sql.winops.execution

import java.io.File

import org.apache.spark.SparkEnv
import org.apache.spark.util.Utils

/** The folder of an executor's temporary files. */
object SpillFolder {

  /** Returns the folder, or null outside of an executor, for the folder of the system. */
  def get: File =
    Option(SparkEnv.get).map(env => new File(Utils.getLocalDir(env.conf))).orNull
}
