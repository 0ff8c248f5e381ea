package org.apache.spark.sql.winops.internal

import scala.util.control.NonFatal

import org.apache.spark.{ErrorClassesJsonReader, SparkThrowableHelper}
import org.apache.spark.internal.Logging

/** Adds error conditions to Spark's, so that PySpark's `getMessage()` finds them. */
object ErrorConditions extends Logging {

  /** Adds the conditions of a reader. Spark has no method for this, so the map of its reader is
    * replaced by reflection. On a JVM that forbids this, `getMessage()` does not work.
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
