package winops.spark.output

import winops.spark.aggregates.StepAggregates
import winops.spark.internal.KeepMetrics
import winops.spark.plan.KeepPlan
import winops.window.changes.{ChangeKind, ChangeQueue, ChangeReason}

/** Tracks the contents of each window step by step, and reports them.
  *
  * When the queue is read, it holds whole steps of the machine, so the end of the queue is the
  * end of a step.
  *
  * @param contents
  *   the contents of each window, by the number of the window
  */
private[spark] abstract class ContentsOutput(
    plan: KeepPlan,
    changes: ChangeQueue,
    contents: Array[StepAggregates],
    metrics: KeepMetrics)
    extends ChangesReader(changes, metrics) {
  // The specification finds these in its policy, which takes longer than a step.
  private val reportsByTrigger = plan.spec.reportsByTrigger
  private val reportsWhenEmptied = plan.spec.reportsWhenEmptied
  private val reportsAfterChanges = !reportsByTrigger && !reportsWhenEmptied

  /** The time of the current step in milliseconds, and its number. */
  protected var at = 0L
  protected var step = 0L

  /** The number of the group's last change that was applied to the contents, or -1 before the
    * first.
    */
  protected var sequence = -1L

  /** Applies the queued changes, and calls [[report]] whenever the contents are to be reported.
    */
  protected final def follow(): Unit = if (!changes.isEmpty) {
    var hasChanged = false
    while (!changes.isEmpty) {
      takeEntry()
      at = changes.at
      step = changes.step
      // An entry has the number of its first change; a trigger that of the next change.
      sequence = changes.sequence - 1
      changes.kind match {
        case ChangeKind.Insert =>
          hasChanged = true
          contents(changes.window).insert(changes.ordinal, changes.end)
          if (changes.reason == ChangeReason.Returned) corrected(changes.ordinal, changes.end)
          else inserted(changes.ordinal, changes.end)
          sequence += changes.end - changes.ordinal
        case ChangeKind.Delete | ChangeKind.GroupDelete =>
          if (reportsWhenEmptied && changes.kind == ChangeKind.Delete) report()
          hasChanged = true
          contents(changes.window).remove(changes.ordinal, changes.end)
          sequence += changes.end - changes.ordinal
        case ChangeKind.UpdateBefore =>
          hasChanged = true
          contents(changes.window).remove(changes.ordinal, changes.end)
          sequence += 1
        case ChangeKind.UpdateAfter =>
          contents(changes.window).insert(changes.ordinal, changes.end)
          corrected(changes.ordinal, changes.end)
          sequence += 1
        case ChangeKind.EmptyTrigger => hasChanged = true
        case ChangeKind.Trigger | ChangeKind.Final if reportsByTrigger => report()
        case _ =>
      }
    }
    if (hasChanged && reportsAfterChanges) report()
  }

  /** Reports the current contents. */
  protected def report(): Unit

  /** Called after rows of the current window have new values, or have returned into it. */
  protected def corrected(from: Long, until: Long): Unit = ()

  /** Called after rows have entered the current window; not for rows that return into it. */
  protected def inserted(from: Long, until: Long): Unit = ()
}
