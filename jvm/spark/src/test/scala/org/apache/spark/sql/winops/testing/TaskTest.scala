package org.apache.spark.sql.winops.testing

import java.io.File

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.streaming.state.StateStoreConf
import org.apache.spark.sql.test.SharedSparkSession
import org.apache.spark.sql.winops.state.KeepStores
import org.apache.spark.util.SerializableConfiguration

import winops.spark.state.StateGroupStore

/** Tests of what takes memory of a task: they run in one, and the session fails tasks that leak
  * any. Only Spark's packages may ask how much a task has.
  */
trait TaskTest extends SharedSparkSession {
  protected def inTask(body: TaskContext => Unit): Unit = {
    spark.sparkContext
      .parallelize(Seq(0), 1)
      .foreachPartition((_: Iterator[Int]) => body(TaskContext.get()))
  }

  /** State stores in a folder, as the session is set, of groups with these columns. */
  protected def storesIn(folder: File, keys: Seq[Attribute]): KeepStores = KeepStores(
    folder.getPath,
    0,
    StateGroupStore.keySchema(keys),
    StateStoreConf(spark.sessionState.conf),
    SerializableConfiguration.broadcast(spark.sparkContext, spark.sessionState.newHadoopConf()))
}

object TaskTest {

  /** An assertion that a task can carry. */
  def check(holds: Boolean, what: String): Unit =
    if (!holds) throw new IllegalStateException(s"failed: $what")
}
