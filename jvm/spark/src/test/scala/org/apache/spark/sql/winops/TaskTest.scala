package org.apache.spark.sql.winops

import org.apache.spark.TaskContext
import org.apache.spark.sql.test.SharedSparkSession

/** Tests of what takes memory of a task: they run in one, and the session fails tasks that leak
  * any. Only Spark's packages may ask how much a task has.
  */
trait TaskTest extends SharedSparkSession {
  protected def inTask(body: TaskContext => Unit): Unit = {
    spark.sparkContext
      .parallelize(Seq(0), 1)
      .foreachPartition((_: Iterator[Int]) => body(TaskContext.get()))
  }
}

object TaskTest {

  /** An assertion that a task can carry. */
  def check(holds: Boolean, what: String): Unit =
    if (!holds) throw new IllegalStateException(s"failed: $what")
}
