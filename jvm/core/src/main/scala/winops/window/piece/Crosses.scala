package winops.window.piece

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.terms.{Origin, Purpose, RowExpression, Span, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.WindowContext.Make
import winops.window.expression.{RowNumber, WindowView}
import winops.window.rules.BatchTrigger
import winops.window.time.Anchor

/** The arrival of a row whose timestamp is in a later span than that of the first row since the
  * last trigger. The arriving row belongs to the next batch.
  *
  * @param timestamp
  *   timestamp expression of a row
  * @param span
  *   length of the consecutive spans
  * @param reference
  *   instant in milliseconds from which the spans are counted; None selects the timestamp of the
  *   group's first row
  */
final case class Crosses(timestamp: RowExpression, span: Span, reference: Option[Long])
    extends Trigger {
  override def usesTime: Boolean = false
  override def firesAtPunctuation: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Seq(Purpose.Timestamp -> timestamp)
  override def reason: Int = ChangeReason.Trigger

  override def words: String = {
    val shown = Wording.shown(timestamp)
    val start = reference.fold(s"the $shown of the first row")(Wording.instant)
    s"before each row whose $shown is in a later period of ${Wording.length(span)}, " +
      s"counted from $start"
  }

  override private[window] def batch: Option[Make[BatchTrigger]] = Some { context =>
    val origin = reference.fold[Origin](Origin.FirstRow)(Origin.At(_))
    new TimestampBatchTrigger(context.evaluator.timestamp(timestamp), span, new Anchor(origin))
  }
}

/** Completes a batch before a row whose timestamp is in a later span than that of the batch's
  * first row. Spans count from the reference, or from the timestamp of the group's first row.
  */
private final class TimestampBatchTrigger(timestamp: RowNumber, span: Span, reference: Anchor)
    extends BatchTrigger {
  override def endsBefore(row: Long, first: Long): Boolean =
    timestamp.whole(row) >= span.nextAfter(timestamp.whole(first), reference.instant)

  override def endAfter(row: Long, at: Long, first: Long, count: Long): Long = {
    reference.arrive(timestamp.whole(row))
    WindowView.NoRow
  }

  override def clear(): Unit = reference.clear()
  override def save(out: ByteWriter): Unit = reference.save(out)
  override def restore(in: ByteReader): Unit = reference.restore(in)
}
