package org.apache.spark.sql.winops.internal

import org.apache.spark.sql.{AnalysisException, Column, DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic

import winops.spark.internal.WinopsErrors

/** Gives access to the plans and expressions of classic Spark's Datasets and Columns. */
object Datasets {

  /** The analyzed plan of a Dataset. */
  def planOf(ds: Dataset[_]): LogicalPlan = ds match {
    case ofClassic: classic.Dataset[_] => ofClassic.logicalPlan
    case _ => throw onConnect
  }

  /** The expression of a column, not resolved. */
  def expressionOf(session: SparkSession, column: Column): Expression =
    classicOf(session).expression(column)

  /** The rows of a table function of the session, as those of its call in SQL. */
  def ofFunction(session: SparkSession, name: String, arguments: Seq[Expression]): DataFrame =
    try
      classic.Dataset.ofRows(classicOf(session), UnresolvedTableValuedFunction(name, arguments))
    catch {
      case error: AnalysisException
          if error.getCondition == "UNRESOLVABLE_TABLE_VALUED_FUNCTION" =>
        throw WinopsErrors.analysis(
          "WINOPS_SESSION",
          "reason" -> "the session was created without the extension of winops",
          "expected" -> ("Give the application the JAR when it starts, or set " +
            "spark.sql.extensions to winops.spark.WinopsExtensions before the session is created"))
    }

  private def classicOf(session: SparkSession): classic.SparkSession = session match {
    case ofClassic: classic.SparkSession => ofClassic
    case _ => throw onConnect
  }

  private def onConnect =
    WinopsErrors.analysis(
      "WINOPS_SESSION",
      "reason" -> "it is a session of Spark Connect, whose plans only the server has",
      "expected" -> "Call the table function keep with spark.sql, or use the Python package")
}
