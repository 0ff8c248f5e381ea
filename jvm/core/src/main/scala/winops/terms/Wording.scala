package winops.terms

import java.math.{BigDecimal => Decimal}
import java.time.Instant

/** Phrases of the descriptions of policies. */
private[winops] object Wording {
  private val MicrosPerMilli = 1000L
  private val MicrosPerSecond = 1000000L
  private val MicrosPerMinute = 60 * MicrosPerSecond
  private val MicrosPerHour = 60 * MicrosPerMinute
  private val MicrosPerDay = 24 * MicrosPerHour
  private val MonthsPerYear = 12L

  /** Formats a count with its noun: `1 row`, `5 rows`. */
  def counted(count: Long, thing: String): String = counted(count.toString, thing)

  /** Formats a number of rows for use after "the newest": `row`, `5 rows`. */
  def several(rows: Long): String = if (rows == 1) "row" else s"$rows rows"

  /** Formats an ordinal number: `2nd`, `11th`. */
  def ordinal(count: Long): String = {
    val ending = count % 10 match {
      case _ if count % 100 / 10 == 1 => "th"
      case 1 => "st"
      case 2 => "nd"
      case 3 => "rd"
      case _ => "th"
    }
    s"$count$ending"
  }

  /** Formats a length of time: `1 minute 1.5 seconds`. */
  def length(span: Span): String = units(span).mkString(" ")

  /** Formats a length of time for use after "every": `second`, `1.5 seconds`. */
  def period(span: Span): String = units(span) match {
    case Seq(unit) => unit.stripPrefix("1 ")
    case several => several.mkString(" ")
  }

  def from(origin: Origin): String = origin match {
    case Origin.FirstRow => "counted from the first row"
    case Origin.At(millis) => s"counted from ${instant(millis)}"
  }

  /** Adds that a trigger fires without a change too, when this batch and the last one are empty.
    */
  def alsoEmpty(forced: Boolean): String = if (forced) ", even if both are empty" else ""

  def instant(millis: Long): String = Instant.ofEpochMilli(millis).toString

  /** The quoted name of a column, or the SQL of any other expression in parentheses. */
  def shown(expression: RowExpression): String = expression match {
    case column: RowExpression.Column => onOneLine(column.sql)
    case RowExpression.Computed(sql) => s"(${onOneLine(sql)})"
  }

  /** Formats a list of expressions: `a`, `a and b`, `a, b and c`. */
  def listed(expressions: Seq[RowExpression]): String = enumerated(expressions.map(shown))

  /** Formats a list of words in the same way. */
  def enumerated(words: Seq[String]): String = words match {
    case several :+ next :+ last => (several :+ s"$next and $last").mkString(", ")
    case one => one.mkString
  }

  def criteria(by: Seq[SortKey]): String =
    by.map(key => s"${shown(key.expression)}${if (key.descending) " descending" else ""}")
      .mkString(", then ")

  /** Formats a distance. The type of the compared values is unknown here, so a whole number of at
    * least 1000 is also shown as a length of time in microseconds.
    */
  def far(distance: Distance): String = distance match {
    case Distance.Whole(value) if value >= MicrosPerMilli =>
      s"$value (${length(Span.ofMicros(value))} if it is a timestamp)"
    case Distance.Whole(value) => value.toString
    case Distance.Real(value) => decimal(Decimal.valueOf(value))
  }

  private def units(span: Span): Seq[String] = {
    val years = span.months / MonthsPerYear -> "year"
    val months = span.months % MonthsPerYear -> "month"
    val days = span.micros / MicrosPerDay -> "day"
    val hours = span.micros % MicrosPerDay / MicrosPerHour -> "hour"
    val minutes = span.micros % MicrosPerHour / MicrosPerMinute -> "minute"
    val wholes = Seq(years, months, days, hours, minutes).collect {
      case (count, unit) if count != 0 => counted(count, unit)
    }
    val rest = span.micros % MicrosPerMinute
    if (rest == 0 && wholes.nonEmpty) wholes else wholes :+ seconds(rest, wholes.isEmpty)
  }

  /** Formats a number of seconds. A length below one second that stands alone is shown in
    * milliseconds or microseconds.
    */
  private def seconds(micros: Long, alone: Boolean): String = {
    val (length, unit) = math.abs(micros) match {
      case size if !alone || size == 0 || size >= MicrosPerSecond => (MicrosPerSecond, "second")
      case size if size >= MicrosPerMilli => (MicrosPerMilli, "millisecond")
      case _ => (1L, "microsecond")
    }
    counted(decimal(Decimal.valueOf(micros).divide(Decimal.valueOf(length))), unit)
  }

  private def counted(count: String, thing: String): String =
    s"$count $thing${if (count == "1") "" else "s"}"

  private def decimal(value: Decimal): String = value.stripTrailingZeros.toPlainString

  private def onOneLine(text: String): String = text.map(c => if (c.isControl) ' ' else c)
}
