package org.apache.spark.sql.winops.internal

import scala.util.control.NonFatal

import org.apache.spark.{ErrorClassesJsonReader, SparkThrowableHelper}
import org.apache.spark.internal.Logging

/** Adds error conditions to Spark's own, where PySpark's `getMessage()` looks them up. */
object ErrorConditions extends Logging {

  /** Adds the conditions of a reader. Spark has no method for it, so its reader's map is
    * replaced; where a JVM forbids that, all but `getMessage()` works.
    */
  def add(conditions: ErrorClassesJsonReader): Unit = synchronized {
    val reader = SparkThrowableHelper.errorReader
    try {
      val field = classOf[ErrorClassesJsonReader].getDeclaredField("errorInfoMap")
      field.setAccessible(true)
      field.set(reader, reader.errorInfoMap ++ conditions.errorInfoMap)
    } catch {
      case NonFatal(error) =>
        logInfo("The error conditions of winops could not be added to Spark's.", error)
    }
  }
}
