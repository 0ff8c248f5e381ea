package winops.spark.expressions

import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.winops.internal.WinopsRuntimeException

import winops.storage.bytes.CorruptStateException

/** Matches the failure of an expression over a row. The messages of Spark's and Java's exceptions
  * may contain values of the row, so only the condition may be shown. Errors of winops and
  * corrupt state, which an expression may be the first to read, do not match.
  */
private[spark] object EvaluationFailure {
  def unapply(error: Throwable): Option[SparkThrowable] = error match {
    case _: WinopsRuntimeException | _: CorruptStateException => None
    case ofSpark: Exception with SparkThrowable => Some(ofSpark)
    case NonFatal(ofJava) => Some(new Named(ofJava.getClass.getSimpleName))
    case _ => None
  }

  private final class Named(name: String) extends SparkThrowable {
    override def getCondition: String = name
  }
}
