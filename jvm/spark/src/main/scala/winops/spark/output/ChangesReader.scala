package winops.spark.output

import org.apache.spark.unsafe.types.UTF8String

import winops.spark.internal.KeepMetrics
import winops.window.changes.{ChangeKind, ChangeQueue, ChangeReason}

/** Writes output rows from the changes that the machine of a window has queued, and counts these.
  *
  * @param changes
  *   the changes of the machine
  */
private[output] abstract class ChangesReader(changes: ChangeQueue, metrics: KeepMetrics)
    extends OutputWriter(metrics) {
  private var inserted = 0L
  private var deleted = 0L
  private var returned = 0L

  /** Moves to the next change and skips other entries; returns false if there is none. */
  protected final def isAtChange: Boolean = {
    while (!changes.isEmpty && !ChangeKind.isChange(changes.nextKind)) takeEntry()
    !changes.isEmpty
  }

  /** Moves to the next entry as a whole. */
  protected final def takeEntry(): Unit = {
    changes.nextEntry()
    countRows(changes.end - changes.ordinal)
  }

  /** Counts rows of the current entry of the queue. */
  protected final def countRows(rows: Long): Unit =
    if (changes.kind == ChangeKind.Insert) {
      if (changes.reason == ChangeReason.Returned) returned += rows else inserted += rows
    } else if (changes.kind == ChangeKind.Delete || changes.kind == ChangeKind.GroupDelete) {
      deleted += rows
    }

  override def count(): Unit = {
    super.count()
    metrics.inserted += inserted
    metrics.deleted += deleted
    metrics.returned += returned
  }
}

private[output] object ChangesReader {

  // The types of changes, the values of the first change column.
  val Insert: UTF8String = UTF8String.fromString("insert")
  val Delete: UTF8String = UTF8String.fromString("delete")
  val UpdateBefore: UTF8String = UTF8String.fromString("update_before")
  val UpdateAfter: UTF8String = UTF8String.fromString("update_after")
  val Late: UTF8String = UTF8String.fromString("late")
  val Refused: UTF8String = UTF8String.fromString("refused")
}
