package org.apache.spark.sql.winops.execution

import java.io.File

import org.apache.spark.SparkEnv

/** Temporary files of a task. */
object SpillFile {

  /** Returns a new file among the executor's local files, which Spark deletes when the executor
    * ends; outside of an executor, in the folder of the system.
    */
  def create(): File = Option(SparkEnv.get) match {
    case Some(env) => env.blockManager.diskBlockManager.createTempLocalBlock()._2
    case None => File.createTempFile("keep", ".rows")
  }
}
