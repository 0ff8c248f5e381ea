package org.apache.spark.sql.winops.testing

import java.io.File

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.streaming.state.StateStoreConf
import org.apache.spark.sql.test.SharedSparkSession
import org.apache.spark.sql.winops.state.KeepStores
import org.apache.spark.util.SerializableConfiguration

import winops.spark.state.StateGroupStore

/** Tests of consumers of task memory. The tests run in a task, and the session fails tasks that
  * leak memory. Only Spark's packages can read the memory of a task.
  */
trait TaskTest extends SharedSparkSession {
  protected def inTask(body: TaskContext => Unit): Unit = {
    spark.sparkContext
      .parallelize(Seq(0), 1)
      .foreachPartition((_: Iterator[Int]) => body(TaskContext.get()))
  }

  /** State stores in a folder, for groups with these columns, with the settings of the session.
    */
  protected def storesIn(folder: File, keys: Seq[Attribute]): KeepStores = KeepStores(
    folder.getPath,
    0,
    StateGroupStore.keySchema(keys),
    StateStoreConf(spark.sessionState.conf),
    SerializableConfiguration.broadcast(spark.sparkContext, spark.sessionState.newHadoopConf()))
}

object TaskTest {

  /** An assertion that can be serialized with a task. */
  def check(holds: Boolean, what: String): Unit =
    if (!holds) throw new IllegalStateException(s"failed: $what")
}
