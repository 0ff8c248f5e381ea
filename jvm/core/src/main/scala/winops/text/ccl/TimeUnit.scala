package winops.text.ccl

import winops.text.dialect.Names

/** A unit of CCL's intervals.
  *
  * @param name
  *   singular; an S makes the plural
  * @param micros
  *   length in microseconds
  * @param short
  *   abbreviations, singular and plural
  */
private[ccl] sealed abstract class TimeUnit(val name: String, val micros: Long, short: String*) {
  private val spellings = Set(name, s"${name}S") ++ short

  /** Formats a number of units: `1 MINUTE`, `30 MINUTES`. */
  def text(count: Long): String = s"$count ${if (count == 1) name else s"${name}S"}"

  private def isSpelled(upper: String): Boolean = spellings(upper)
}

private[ccl] object TimeUnit {
  case object Day extends TimeUnit("DAY", 86400000000L)
  case object Hour extends TimeUnit("HOUR", 3600000000L, "HR", "HRS")
  case object Minute extends TimeUnit("MINUTE", 60000000L, "MIN", "MINS")
  case object Second extends TimeUnit("SECOND", 1000000L, "SEC", "SECS")
  case object Millisecond extends TimeUnit("MILLISECOND", 1000L, "MILLIS")
  case object Microsecond extends TimeUnit("MICROSECOND", 1L, "MICROS")

  /** All units, the longest first. */
  val all: Seq[TimeUnit] = Seq(Day, Hour, Minute, Second, Millisecond, Microsecond)

  /** The unit that a word names, in any case. */
  def named(word: String): Option[TimeUnit] = {
    val upper = Names.upper(word)
    all.find(_.isSpelled(upper))
  }
}
