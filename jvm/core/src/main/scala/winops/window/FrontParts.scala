package winops.window

import winops.log.{ByteReader, ByteWriter}
import winops.policy.Span

// Windows that let go of their oldest rows first.

/** A window whose rows are those of the group from `head` on. */
private[window] abstract class FrontPart(protected val held: HeldRows) extends Part {
  protected var head = 0L
  protected var count = 0L

  override def arrive(row: Long, at: Long, letGo: LetGo): Unit = count += 1
  override def forget(row: Long): Unit = if (row >= head) count -= 1
  override def holds(row: Long): Boolean = row >= head

  override def takeBack(row: Long): Unit = {
    forget(row)
    // The window may have evicted the row already.
    head = Math.min(head, row)
  }

  override def startFrom(row: Long): Unit = head = Math.max(head, row)

  protected final def oldest: Long = held.from(head)

  protected final def letGoOfOldest(letGo: LetGo): Unit = {
    val row = oldest
    letGo.add(row)
    pass(row)
  }

  /** Goes on behind the oldest row. */
  protected final def pass(row: Long): Unit = {
    head = row + 1
    count -= 1
  }

  override def clear(): Unit = {
    head = 0L
    count = 0L
  }

  override def save(out: ByteWriter): Unit = {
    out.number(head)
    out.number(count)
  }

  override def restore(in: ByteReader): Unit = {
    head = in.count(Long.MaxValue)
    count = in.count(held.end)
  }
}

private final class AllPart(held: HeldRows) extends FrontPart(held)

private final class NewestPart(rows: Long, held: HeldRows) extends FrontPart(held) {
  override def arrive(row: Long, at: Long, letGo: LetGo): Unit = {
    super.arrive(row, at, letGo)
    if (count > rows) letGoOfOldest(letGo)
  }
}

private final class YoungPart(span: Span, held: HeldRows) extends FrontPart(held) {
  override def due: Long = if (count == 0) Clock.Never else span.after(held.arrival(oldest))

  override def atDue(due: Long, letGo: LetGo): Unit =
    while (count > 0 && span.after(held.arrival(oldest)) <= due) letGoOfOldest(letGo)
}

/** Lets go of the oldest rows whose timestamp is a span before the arriving row's. The arriving
  * row itself leaves at once only if the span is empty.
  */
private final class BehindPart(timestamp: RowNumber, span: Span, held: HeldRows)
    extends FrontPart(held) {
  override def lacksValue(row: Long): Boolean = timestamp.isMissing(row)

  override def arrive(row: Long, at: Long, letGo: LetGo): Unit = {
    super.arrive(row, at, letGo)
    val limit = span.before(timestamp.whole(row))
    val least = if (span.isEmpty) 0L else 1L
    while (count > least && timestamp.whole(oldest) <= limit) letGoOfOldest(letGo)
  }
}

/** Lets go of the oldest rows as long as the condition does not hold for them. */
private final class ConditionPart(condition: RowCondition, held: HeldRows)
    extends FrontPart(held) {
  private val view = new FrontView(held)
  private var newest = WindowView.NoRow

  /** Whether other windows have removed rows in the present step since the last evaluation. */
  private var lost = false

  override def arrive(row: Long, at: Long, letGo: LetGo): Unit = {
    super.arrive(row, at, letGo)
    newest = row
    pass(letGo)
  }

  override def forget(row: Long): Unit = {
    if (row >= head) lost = true
    super.forget(row)
  }

  /** What it lets go of then leaves this window only. */
  override def afterForgetting(): Unit = if (lost) {
    lost = false
    if (count > 0) pass(null)
  }

  private def pass(letGo: LetGo): Unit = {
    var expired = 0L
    var fails = true
    while (fails && count > 0) {
      val row = oldest
      view.set(row, row, last, count, expired)
      fails = !condition.holds(view)
      if (fails) {
        if (letGo != null) letGo.add(row)
        pass(row)
        expired += 1
      }
    }
  }

  private def last: Long = held.lastFrom(newest)

  override def clear(): Unit = {
    super.clear()
    newest = WindowView.NoRow
    lost = false
  }

  override def save(out: ByteWriter): Unit = {
    super.save(out)
    out.number(newest)
  }

  override def restore(in: ByteReader): Unit = {
    super.restore(in)
    newest = in.number()
    lost = false
  }
}

/** Lets go of all rows when none has arrived for the span. */
private final class QuietPart(span: Span, held: HeldRows) extends FrontPart(held) {
  private var newest = WindowView.NoRow

  override def arrive(row: Long, at: Long, letGo: LetGo): Unit = {
    super.arrive(row, at, letGo)
    newest = row
  }

  override def due: Long =
    if (count == 0) Clock.Never
    else {
      newest = held.lastFrom(newest)
      span.after(held.arrival(newest))
    }

  override def atDue(due: Long, letGo: LetGo): Unit = while (count > 0) letGoOfOldest(letGo)

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

/** Takes in rows as long as it has less than so many, and never lets go. */
private final class FirstRowsPart(rows: Long, held: HeldRows) extends FrontPart(held) {
  private var newest = WindowView.NoRow

  override def admits(row: Long, at: Long): Boolean = count < rows

  override def arrive(row: Long, at: Long, letGo: LetGo): Unit = {
    super.arrive(row, at, letGo)
    newest = row
  }

  override def forget(row: Long): Unit = if (holds(row)) count -= 1
  override def holds(row: Long): Boolean = row <= newest

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

/** Takes in the rows that arrive before the span is over, and never lets go. An empty span is
  * over once the row has arrived with which it begins.
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
