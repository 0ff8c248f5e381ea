package winops.window.rules

import winops.terms.Span
import winops.storage.rows.Rows
import winops.window.time.Clock

/** Evicts a row `later` milliseconds after its age has reached `span`. */
private[window] final class AgeRule(span: Span, rows: Rows, later: Long = 0L)
    extends EvictionRule {
  override def usesTime: Boolean = true
  override def due(row: Long): Long = span.after(rows.arrival(row)) + later

  // A loop of its own: in that of the base class, the calls of `due` would reach several classes.
  override def firstStaying(head: Long, end: Long, at: Long): Long = {
    var row = head
    while (row < end && due(row) <= at) row += 1
    row
  }
}

private[window] object AgeRule {

  /** A rule that keeps a row whose age equals the span. A row then exceeds a span of whole
    * milliseconds one millisecond later.
    */
  def exceeded(span: Span, rows: Rows): AgeRule = {
    val isWhole = span.micros % Clock.MicrosPerMilli == 0
    new AgeRule(span, rows, later = if (isWhole) 1L else 0L)
  }
}
