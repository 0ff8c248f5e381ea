package org.apache.spark.sql.winops.internal

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkRuntimeException

import winops.spark.internal.WinopsErrors

/** An error during execution, with a condition of `winops-error-conditions.json`. The message
  * contains no values of rows.
  *
  * Python maps errors by class, so the class extends one of Spark's. Its constructor accepts
  * Spark's own conditions only and gets the most general one.
  */
final class WinopsRuntimeException(condition: String, parameters: Map[String, String])
    extends SparkRuntimeException(
      "USER_RAISED_EXCEPTION",
      Map("errorMessage" -> WinopsErrors.message(condition, parameters))) {
  override def getMessage: String = WinopsErrors.message(condition, parameters)
  override def getCondition: String = condition
  override def getSqlState: String = WinopsErrors.sqlState(condition)
  override def getMessageParameters: java.util.Map[String, String] = parameters.asJava
}
