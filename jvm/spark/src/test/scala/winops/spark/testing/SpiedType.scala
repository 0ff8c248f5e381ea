package winops.spark.testing

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.sql.types.{DataType, StringType, UserDefinedType}
import org.apache.spark.unsafe.types.UTF8String

/** A user-defined type that counts its instances. */
final class SpiedType extends UserDefinedType[String] {
  SpiedType.made.incrementAndGet()

  override def sqlType: DataType = StringType
  override def serialize(value: String): Any = UTF8String.fromString(value)
  override def deserialize(stored: Any): String = stored.toString
  override def userClass: Class[String] = classOf[String]
}

object SpiedType {
  private val made = new AtomicInteger

  /** The number of instances created while `body` ran. */
  def madeBy(body: => Unit): Int = {
    val before = made.get
    body
    made.get - before
  }
}
