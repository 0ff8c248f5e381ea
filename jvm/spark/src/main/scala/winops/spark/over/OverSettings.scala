package winops.spark.over

import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.internal.SessionSettings
import winops.spark.plan.{OperatorSpec, OverSpec}

/** The settings of window functions over streams, which SQL's OVER has no place for.
  *
  * @param arrivalOrder
  *   true if rows are applied in the order of their arrival where ORDER BY does not begin with an
  *   event time
  * @param dropNullTime
  *   true if rows without a time are dropped and counted; otherwise such a row is an error
  * @param idleMillis
  *   the idle time in milliseconds after which a group is removed
  * @param maxRows
  *   the maximum number of rows in a group
  * @param exactFloats
  *   true if floating-point results are folded row by row, as Spark does
  * @param flushesAtEnd
  *   true if waiting rows are applied when the input ends
  */
final case class OverSettings(
    arrivalOrder: Boolean,
    dropNullTime: Boolean,
    idleMillis: Option[Long],
    maxRows: Long,
    exactFloats: Boolean,
    flushesAtEnd: Boolean) {

  /** Returns true if an operator was made with these settings. */
  def areOf(spec: OverSpec): Boolean =
    spec.dropNullTime == dropNullTime && spec.idleMillis == idleMillis &&
      spec.maxRows == maxRows && spec.exactFloats == exactFloats &&
      spec.flushesAtEnd == (flushesAtEnd && spec.rowsWait)
}

object OverSettings {
  val Enabled = "spark.winops.over.enabled"
  val ArrivalOrder = "spark.winops.over.arrivalOrder"
  val NullTime = "spark.winops.over.nullTime"
  val Idle = "spark.winops.over.idle"
  val MaxRows = "spark.winops.over.maxRows"
  val ExactFloats = "spark.winops.over.exactFloats"
  val AtEnd = "spark.winops.over.atEnd"

  /** A setting with a value that it cannot have.
    *
    * @param expected
    *   the values that it can have
    */
  final case class Invalid(name: String, value: String, expected: String)

  /** Returns true if window functions over streams run with winops. */
  def isEnabled: Boolean = text(Enabled).forall(!_.equalsIgnoreCase("false"))

  /** The settings of the session, or the first that is not valid. */
  def read: Either[Invalid, OverSettings] = for {
    _ <- flag(Enabled, default = true)
    arrivalOrder <- flag(ArrivalOrder, default = false)
    dropNullTime <- choice(NullTime, "error", "drop")
    idle <- parsed(Idle, "an interval such as 7 days, without months")(millis)
    maxRows <- parsed(MaxRows, "a whole number above 0")(_.toLongOption.filter(_ > 0))
    exactFloats <- flag(ExactFloats, default = false)
    flushesAtEnd <- choice(AtEnd, "wait", "flush")
  } yield OverSettings(
    arrivalOrder,
    dropNullTime,
    idle,
    maxRows.getOrElse(OperatorSpec.DefaultMaxRows),
    exactFloats,
    flushesAtEnd)

  private def flag(name: String, default: Boolean): Either[Invalid, Boolean] =
    parsed(name, "true or false")(_.toBooleanOption).map(_.getOrElse(default))

  /** Returns true if the setting has its second value, and false for the first or none. */
  private def choice(name: String, first: String, second: String): Either[Invalid, Boolean] =
    parsed(name, s"$first or $second") { value =>
      Some(value.toLowerCase(java.util.Locale.ROOT))
        .filter(Seq(first, second).contains)
        .map(_ == second)
    }.map(_.getOrElse(false))

  private def parsed[A](name: String, expected: String)(
      parse: String => Option[A]): Either[Invalid, Option[A]] = text(name) match {
    case None => Right(None)
    case Some(value) => parse(value).map(Some(_)).toRight(Invalid(name, value, expected))
  }

  private def millis(value: String): Option[Long] =
    Option(IntervalUtils.safeStringToInterval(UTF8String.fromString(value)))
      .filter(_.months == 0)
      .map(interval => interval.days * MillisPerDay + interval.microseconds / 1000)
      .filter(_ > 0)

  private def text(name: String): Option[String] = SessionSettings.text(name)

  private val MillisPerDay = 24L * 60 * 60 * 1000
}
