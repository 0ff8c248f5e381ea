package winops.ccl

import winops.dialect.Names
import winops.policy.Origin

/** The one text of a clause: read again, it gives an equal policy. */
private[ccl] object Canonical {

  /** The clause with its keywords in upper case, its defaults left out and its names quoted where
    * they are not plain. CCL has no word for the origin of an interval, so an origin other than
    * the epoch is told in words that only people read.
    */
  def text(keep: Keep, origin: Origin): String = keep match {
    case Keep.All => "KEEP ALL"
    case Keep.Rows(n, 1, per) => s"KEEP ${rows(n)}${columns(per)}"
    case Keep.Rows(n, slack, per) => s"KEEP ${rows(n)} SLACK $slack${columns(per)}"
    case Keep.EveryRows(n, per) => s"KEEP EVERY ${rows(n)}${columns(per)}"
    case Keep.Interval(micros, per) => s"KEEP ${interval(micros)}${columns(per)}"
    case Keep.EveryInterval(micros, per) =>
      s"KEEP EVERY ${interval(micros)}${columns(per)}${counting(origin)}"
  }

  private def rows(count: Long): String = if (count == 1) "1 ROW" else s"$count ROWS"

  private def interval(micros: Long): String = {
    val lengths = TimeUnit.all.scanLeft(micros)(_ % _.micros)
    TimeUnit.all
      .zip(lengths)
      .collect { case (unit, left) if left >= unit.micros => unit.text(left / unit.micros) }
      .mkString(" ")
  }

  private def columns(per: Seq[String]): String =
    if (per.isEmpty) "" else per.map(Names.quoted).mkString(" PER (", ", ", ")")

  private def counting(origin: Origin): String = origin match {
    case Origin.epoch => ""
    case Origin.At(millis) => s" ORIGIN ${TimeUnit.Millisecond.text(millis)}"
    case Origin.FirstRow => " ORIGIN FIRST ROW"
  }
}
