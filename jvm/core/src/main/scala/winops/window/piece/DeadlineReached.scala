package winops.window.piece

import scala.collection.mutable

import winops.storage.btree.PagedMap
import winops.terms.{Purpose, RowExpression, Span, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.WindowContext.Make
import winops.window.expression.RowNumber
import winops.window.rules.{EvictedRows, IndexedPart, Ordinals, Part}
import winops.window.time.Clock

/** The rows whose own timestamp was `span` ago or earlier. */
final case class DeadlineReached(timestamp: RowExpression, span: Span) extends Bound {
  override def usesTime: Boolean = true
  override def evictsOldestFirst: Boolean = false
  override def evictsFromAll: Boolean = true
  override def looksAtEachRow: Boolean = true
  override def leavesAtOnce(leave: Trigger): Boolean = leave == WhenDue
  override def reads: Seq[(Purpose, RowExpression)] = Seq(Purpose.Deadline -> timestamp)
  override def reasons(leave: Trigger): Seq[Int] = Seq(ChangeReason.Expired)
  override def resizable(leave: Trigger): Option[Resizable] = None

  override private[window] def part: Option[Make[Part]] = Some { context =>
    new DeadlinePart(context.evaluator.timestamp(timestamp), span, context.newIndex())
  }

  override def until: Seq[String] = {
    val after = if (span.isEmpty) "" else s"${Wording.length(span)} after "
    val shown = Wording.shown(timestamp)
    Seq(s"${after}the time in ${if (timestamp.isColumn) s"its $shown column" else shown}")
  }
  override def whileEvicting: Option[String] = None
}

/** Evicts each row when `span` has passed since the row's own timestamp. A row whose span is over
  * when the row arrives leaves at once.
  */
private final class DeadlinePart(timestamp: RowNumber, span: Span, index: PagedMap)
    extends IndexedPart(index) {
  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit =
    if (span.after(timestamp.whole(row)) <= at) evicted.add(row, ChangeReason.Expired)
    else index.put(place(row), Array.emptyByteArray)

  override def due: Long =
    if (index.size == 0) Clock.Never
    else {
      index.first()
      dueOf(index.key)
    }

  override def atDue(due: Long, evicted: EvictedRows): Unit = {
    while (index.size > 0 && { index.first(); dueOf(index.key) <= due }) {
      evicted.add(Ordinals.getLast(index.key), ChangeReason.Expired)
      index.remove()
    }
  }

  override def forget(row: Long): Unit = index.remove(place(row))
  override def holds(row: Long): Boolean = index.contains(place(row))

  override def inOrder: mutable.ArrayBuffer[Long] = Ordinals.all(index, Ordinals.getLast)

  private def dueOf(place: Array[Byte]): Long = span.after(Ordinals.get(place) ^ Long.MinValue)

  private def place(row: Long): Array[Byte] =
    Ordinals.append(Ordinals.bytes(timestamp.whole(row) ^ Long.MinValue), row)
}
