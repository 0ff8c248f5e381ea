package winops.window.piece

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.terms.{Purpose, RowExpression}
import winops.window.changes.ChangeReason
import winops.window.contents.HeldRows
import winops.window.contents.WindowContext.Make
import winops.window.rules.{BatchTrigger, Batches, EvictedRows, Part}

/** The rows of the previous batch, when a new batch enters. */
case object PreviousBatch extends Bound {
  override def usesTime: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def evictsOldestFirst: Boolean = true
  override def evictsFromAll: Boolean = false
  override def looksAtEachRow: Boolean = false
  override def leavesAtOnce(leave: Trigger): Boolean = false
  override def reasons(leave: Trigger): Seq[Int] = Seq(ChangeReason.Trigger)
  override def resizable(leave: Trigger): Option[Resizable] = None

  override private[window] def partAt(
      enter: Trigger,
      leave: Trigger,
      inUnion: Boolean): Option[Make[Part]] =
    enter.batch.filter(_ => inUnion && enter == leave).map { trigger => context =>
      new BatchPart(trigger(context), context.held)
    }

  override def until: Seq[String] = Seq("the next batch is inserted")
  override def whileEvicting: Option[String] = None

  override def keeps(admit: Admit, order: Order, leave: Trigger): String =
    s"collects rows in a batch${sorted(order)}"

  override def moves(triggers: Triggers, order: Order): Seq[String] = {
    val Triggers(enter, leave, _) = triggers
    if (enter == leave) {
      Seq(s"${enter.wordsOfCollected}, inserts the batch and removes the previous one")
    } else {
      Seq(
        s"inserts the batch ${enter.wordsOfCollected}",
        s"removes the previous one ${leave.words}")
    }
  }
}

/** A batch window in a union: evicts the rows of a batch when the next batch is complete. */
private final class BatchPart(protected val trigger: BatchTrigger, protected val rows: HeldRows)
    extends Part
    with Batches {
  private var head = 0L
  private var leaving: EvictedRows = _

  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    leaving = evicted
    join(row, at)
  }

  override def due: Long = trigger.due

  override def atDue(due: Long, evicted: EvictedRows): Unit = {
    leaving = evicted
    postDue(due)
  }

  override def skipReports(until: Long): Unit = skipEmpty(head, until)

  override def forget(row: Long): Unit = ()
  override def holds(row: Long): Boolean = row >= head

  override def clear(): Unit = {
    head = 0L
    clearBatches()
  }

  override def save(out: ByteWriter): Unit = {
    out.number(head)
    saveBatches(out)
  }

  override def restore(in: ByteReader): Unit = {
    head = in.count(rows.end)
    restoreBatches(in)
  }

  override protected def post(until: Long): Boolean = {
    var row = rows.from(head)
    val something = pending > 0 || row < boundary
    while (row < boundary) {
      leaving.add(row, ChangeReason.Trigger)
      row = rows.next(row)
    }
    head = boundary
    boundary = until
    // A union removes no row between others, so only the newest row can be left pending.
    pending = if (until < rows.end) 1L else 0L
    something
  }
}
