package winops.window.piece

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.terms.{Origin, Purpose, RowExpression, Span, Wording}
import winops.window.contents.{HeldRows, WindowContext}
import winops.window.expression.WindowView
import winops.window.rules.{FrontPart, Part}
import winops.window.time.Anchor

/** Admits the rows that arrive before `span`, counted from `origin`, is over. */
final case class FirstFor(span: Span, origin: Origin) extends Admit {
  override def usesTime: Boolean = true
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def words: String = s"the $rows"
  override def clause: Option[String] = Some(s"inserts only $rows")

  private def rows: String = {
    val start = origin match {
      case Origin.FirstRow => "the first row"
      case Origin.At(millis) => Wording.instant(millis)
    }
    s"rows that arrive less than ${Wording.length(span)} after $start"
  }

  override private[window] def part(context: WindowContext): Part =
    new FirstForPart(span, new Anchor(origin), context.held)
}

/** Admits the rows that arrive before the span is over, and evicts none. An empty span that
  * begins with a row admits that row.
  */
private final class FirstForPart(span: Span, anchor: Anchor, held: HeldRows)
    extends FrontPart(held) {

  /** The row with which an empty span began. */
  private var only = WindowView.NoRow

  override def admits(row: Long, at: Long): Boolean = {
    if (span.isEmpty && !anchor.isKnown) only = row
    anchor.arrive(at)
    row == only || isBeforeEnd(at)
  }

  override def holds(row: Long): Boolean = row == only || isBeforeEnd(held.arrival(row))

  override def clear(): Unit = {
    super.clear()
    anchor.clear()
    only = WindowView.NoRow
  }

  override def save(out: ByteWriter): Unit = {
    super.save(out)
    anchor.save(out)
    if (span.isEmpty) out.number(only)
  }

  override def restore(in: ByteReader): Unit = {
    super.restore(in)
    anchor.restore(in)
    only = if (span.isEmpty) in.number() else WindowView.NoRow
  }

  private def isBeforeEnd(at: Long): Boolean = at < span.after(anchor.instant)
}
