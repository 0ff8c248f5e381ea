package winops.window.piece

import winops.terms.{Purpose, RowExpression, Span, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.HeldRows
import winops.window.contents.WindowContext.Make
import winops.window.expression.RowNumber
import winops.window.rules.{EvictedRows, FrontPart, Part}

/** From the oldest row on, the rows whose timestamp is at least `span` before that of the
  * arriving row.
  */
final case class TimestampBehind(timestamp: RowExpression, span: Span) extends Bound {
  override def usesTime: Boolean = false
  override def evictsOldestFirst: Boolean = true
  override def evictsFromAll: Boolean = true
  override def looksAtEachRow: Boolean = false
  override def leavesAtOnce(leave: Trigger): Boolean = leave == EachRow
  override def reads: Seq[(Purpose, RowExpression)] = Seq(Purpose.Timestamp -> timestamp)
  override def reasons(leave: Trigger): Seq[Int] = Seq(ChangeReason.Expired)
  override def resizable(leave: Trigger): Option[Resizable] = None

  override private[window] def part: Option[Make[Part]] = Some { context =>
    new BehindPart(context.evaluator.timestamp(timestamp), span, context.held)
  }

  override def until: Seq[String] = Seq(s"its $behind")
  override def whileEvicting: Option[String] = Some(s"their $behind")

  private def behind: String =
    s"${Wording.shown(timestamp)} is ${Wording.length(span)} or more before that of the new row"
}

/** Evicts the oldest rows whose timestamps are at least `span` before the arriving row's. The
  * arriving row itself leaves at once only if the span is empty.
  */
private final class BehindPart(timestamp: RowNumber, span: Span, held: HeldRows)
    extends FrontPart(held) {
  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    super.arrive(row, at, evicted)
    val limit = span.before(timestamp.whole(row))
    val least = if (span.isEmpty) 0L else 1L
    while (count > least && timestamp.whole(oldest) <= limit)
      evictOldest(evicted, ChangeReason.Expired)
  }
}
