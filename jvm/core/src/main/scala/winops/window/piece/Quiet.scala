package winops.window.piece

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.terms.{Span, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.HeldRows
import winops.window.contents.WindowContext.Make
import winops.window.expression.WindowView
import winops.window.rules.{EvictedRows, FrontPart, Part}
import winops.window.time.Clock

/** The end of a span in which no row has arrived. */
final case class Quiet(span: Span) extends Trigger {
  override def usesTime: Boolean = true
  override def reason: Int = ChangeReason.Silence
  override def words: String = s"when no row arrives for ${Wording.length(span)}"

  override private[window] def emptyingPart: Option[Make[Part]] =
    Some(context => new QuietPart(span, context.held))
}

/** Evicts all rows when no row has arrived for the span. */
private final class QuietPart(span: Span, held: HeldRows) extends FrontPart(held) {
  private var newest = WindowView.NoRow

  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    super.arrive(row, at, evicted)
    newest = row
  }

  override def due: Long =
    if (count == 0) Clock.Never
    else {
      newest = held.lastFrom(newest)
      span.after(held.arrival(newest))
    }

  override def atDue(due: Long, evicted: EvictedRows): Unit =
    while (count > 0) evictOldest(evicted, ChangeReason.Silence)

  override def clear(): Unit = {
    super.clear()
    newest = WindowView.NoRow
  }

  override def save(out: ByteWriter): Unit = {
    super.save(out)
    out.number(newest)
  }

  override def restore(in: ByteReader): Unit = {
    super.restore(in)
    newest = in.number()
  }
}
