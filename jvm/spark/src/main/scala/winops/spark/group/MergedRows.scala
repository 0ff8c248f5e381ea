package winops.spark.group

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Releases the rows of several sources in one order. Of equal rows, that of the first source
  * precedes.
  *
  * @param sources
  *   rows in order, by their arrival
  */
private[group] final class MergedRows(sources: Seq[WaitingRows], order: Ordering[InternalRow])
    extends WaitingRows {
  import MergedRows._

  private val queue = new java.util.PriorityQueue[Source]((a: Source, b: Source) => {
    val compared = order.compare(a.rows.first, b.rows.first)
    if (compared != 0) compared else Integer.compare(a.rank, b.rank)
  })
  sources.iterator.zipWithIndex.foreach { case (rows, rank) => enter(new Source(rows, rank)) }

  override def first: UnsafeRow = if (queue.isEmpty) null else queue.peek().rows.first

  override def take(): Unit = {
    val source = queue.poll()
    source.rows.take()
    enter(source)
  }

  override def finish(): Unit = sources.foreach(_.finish())

  private def enter(source: Source): Unit = if (source.rows.first != null) {
    val _ = queue.add(source)
  }
}

private[group] object MergedRows {
  import WaitingRows.Never

  private final class Source(val rows: WaitingRows, val rank: Int)

  /** Reads rows before a time: unsorted ones, and those of the sequences from one on. */
  def of(
      layout: WaitingLayout,
      before: Long,
      order: Ordering[InternalRow],
      from: Int = 0): MergedRows = {
    val rows = layout.rows
    val unsorted = unsortedOf(layout, before, order)
    val fronts = layout.sequences.iterator
      .drop(from)
      .filter(sequence => WaitingRows.isDue(sequence.next, before))
      .map(new SequenceFront(rows, _, before))
      .toSeq
    // The unsorted rows arrived last.
    new MergedRows(fronts :+ unsorted, order)
  }

  private def unsortedOf(
      layout: WaitingLayout,
      before: Long,
      order: Ordering[InternalRow]): WaitingRows = {
    val tail = layout.unsorted
    if (!WaitingRows.isDue(tail.firstTime, before)) NoWaitingRows
    else if (before != Never && tail.schedule.covers(before)) {
      new ScheduledRows(layout.rows, tail, layout.firstTime, before, order)
    } else new DueUnsortedRows(layout.rows, tail, layout.firstTime, before, order)
  }
}
