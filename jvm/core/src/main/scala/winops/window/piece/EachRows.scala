package winops.window.piece

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.terms.{Purpose, RowExpression, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.WindowContext.Make
import winops.window.expression.WindowView
import winops.window.rules.{ArrivalEviction, BatchTrigger, CountRule, EvictionRule, NetTrigger, NoRule, ReportTrigger}

/** The arrival of every `rows`-th row. */
final case class EachRows(rows: Long) extends Trigger {
  override def usesTime: Boolean = false
  override def firesAtPunctuation: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def reason: Int = ChangeReason.Trigger

  override def words: String =
    if (rows == 1) EachRow.words else s"at every ${Wording.ordinal(rows)} row"

  override def wordsOfCollected: String = s"when the ${Wording.ordinal(rows)} arrives"

  override private[window] def batch: Option[Make[BatchTrigger]] =
    Some(_ => new CountBatchTrigger(rows))

  override private[window] def net: Option[() => NetTrigger] =
    Some(() => new CountNetTrigger(rows))

  override private[window] def report: Option[Make[ReportTrigger]] =
    Some(_ => new CountReportTrigger(rows))

  override private[window] def emptyingEvents: Option[Make[(EvictionRule, ArrivalEviction)]] =
    Some(_ => (NoRule, new TumblingRows(rows)))
}

/** Completes a batch after `rows` rows. */
private final class CountBatchTrigger(rows: Long) extends BatchTrigger {
  override def endAfter(row: Long, at: Long, first: Long, count: Long): Long =
    if (count >= rows) row + 1 else WindowView.NoRow
}

/** Changes the contents with every `rows`-th row. */
private final class CountNetTrigger(rows: Long) extends NetTrigger {
  override def entersAt(at: Long, pending: Long): Boolean = pending >= rows
}

/** Reports after every `rows` rows. */
private final class CountReportTrigger(rows: Long) extends ReportTrigger {
  private var count = 0L

  override def afterRow(at: Long, isFirst: Boolean): Boolean = {
    count += 1
    val fires = count >= rows
    if (fires) count = 0L
    fires
  }

  override def clear(): Unit = count = 0L
  override def save(out: ByteWriter): Unit = out.number(count)
  override def restore(in: ByteReader): Unit = count = in.count(Long.MaxValue)
}

/** Evicts all rows once the window has `count` rows. */
private final class TumblingRows(count: Long) extends ArrivalEviction {
  private val rule = new CountRule(0L, slack = count)

  override def afterRow(size: Long): Long = rule.excess(size)
}
