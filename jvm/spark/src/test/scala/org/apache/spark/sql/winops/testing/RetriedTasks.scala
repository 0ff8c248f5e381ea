package org.apache.spark.sql.winops.testing

import org.apache.spark.sql.test.{SharedSparkSession, TestSparkSession}

/** A session that retries a failed task once, unlike Spark's own test session. */
trait RetriedTasks extends SharedSparkSession {
  override protected def createSparkSession: TestSparkSession =
    new TestSparkSession(sparkConf, maxLocalTaskFailures = 2, numCores = 2)
}
