package org.apache.spark.sql.winops.internal

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkRuntimeException

import winops.spark.internal.WinopsErrors

/** A failure while rows are processed, under one of the conditions of
  * `winops-error-conditions.json`. No message holds values of rows.
  *
  * Python knows a failure by its class, so this is one of Spark's; Spark's constructor takes
  * Spark's own conditions only, and is given its most general one.
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
