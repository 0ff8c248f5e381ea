package org.apache.spark.sql.winops.testing

import org.apache.spark.sql.test.{SharedSparkSession, TestSparkSession}

/** A session that tries a failed task once again; that of Spark's own tests does not. */
trait RetriedTasks extends SharedSparkSession {
  override protected def createSparkSession: TestSparkSession =
    new TestSparkSession(sparkConf, maxLocalTaskFailures = 2, numCores = 2)
}
