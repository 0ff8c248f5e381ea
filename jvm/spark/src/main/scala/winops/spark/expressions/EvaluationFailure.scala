package winops.spark.expressions

import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.winops.internal.WinopsRuntimeException

import winops.storage.bytes.CorruptStateException

/** What an expression failed with over a row. Spark's message of it may show values of the row,
  * and so may that of Java's, which some of Spark's functions let through. State that cannot be
  * read is no such failure, though an expression may be the first to need it.
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
