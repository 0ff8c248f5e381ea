package org.apache.spark.sql.winops.testing

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{Dataset, SparkSession}

/** Creates DataFrames from plans, which Spark restricts to its own packages. */
object PlannedQuery {
  def of(session: SparkSession, plan: LogicalPlan): DataFrame = Dataset.ofRows(session, plan)

  def planOf(df: DataFrame): LogicalPlan = df.queryExecution.analyzed
}
