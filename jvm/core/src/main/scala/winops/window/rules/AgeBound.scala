package winops.window.rules

import winops.policy.Span
import winops.storage.rows.Rows
import winops.window.time.Clock

/** Bounds the age of rows: a row leaves `later` milliseconds after its age reaches `span`. */
private[window] final class AgeBound(span: Span, later: Long, rows: Rows) extends FrontBound {
  override def firstStaying(head: Long, end: Long, at: Long): Long = {
    var row = head
    while (row < end && due(row) <= at) row += 1
    row
  }

  override def due(head: Long): Long = span.after(rows.arrival(head)) + later
}

private[window] object AgeBound {

  /** A bound that keeps a row whose age equals the span. A row then exceeds a span of whole
    * milliseconds one millisecond later.
    */
  def exceeded(span: Span, rows: Rows): AgeBound = {
    val isWhole = span.micros % Clock.MicrosPerMilli == 0
    new AgeBound(span, if (isWhole) 1L else 0L, rows)
  }
}
