package winops.spark.output

import winops.spark.aggregates.TrackedContents
import winops.spark.internal.KeepMetrics
import winops.spark.plan.KeepPlan
import winops.window.{ChangeKind, ChangeQueue}

/** What follows the content of a window step by step.
  *
  * A machine's step is in the queue as a whole when it is read, so the end of the queue is the
  * end of the step.
  *
  * @param contents
  *   the content of each window, by its number
  */
private[spark] abstract class ContentsTracker(
    plan: KeepPlan,
    changes: ChangeQueue,
    contents: Array[TrackedContents],
    metrics: KeepMetrics)
    extends OutputWriter(changes, metrics) {
  private val spec = plan.spec

  /** When the step was, in milliseconds, and its number. */
  protected var at = 0L
  protected var step = 0L

  /** The number of the last change that the content has seen. */
  protected var sequence = 0L

  /** Reads what has been told, and [[report]]s where the content is to be told. */
  protected final def follow(): Unit = if (!changes.isEmpty) {
    var hasChanged = false
    while (!changes.isEmpty) {
      takeEntry()
      at = changes.at
      step = changes.step
      changes.kind match {
        case ChangeKind.Insert =>
          hasChanged = true
          contents(changes.window).insert(changes.ordinal, changes.end)
          inserted(changes.ordinal, changes.end)
          sequence = changes.sequence + changes.end - changes.ordinal - 1
        case ChangeKind.Delete | ChangeKind.GroupDelete =>
          if (spec.reportsWhenEmptied && changes.kind == ChangeKind.Delete) report()
          hasChanged = true
          contents(changes.window).remove(changes.ordinal, changes.end)
          sequence = changes.sequence + changes.end - changes.ordinal - 1
        case ChangeKind.EmptyBeat => hasChanged = true
        case ChangeKind.Trigger | ChangeKind.Final if spec.reportsByTrigger => report()
        case _ =>
      }
    }
    if (hasChanged && !spec.reportsByTrigger && !spec.reportsWhenEmptied) report()
  }

  /** The content is to be told, as it is now. */
  protected def report(): Unit

  /** Rows came in. */
  protected def inserted(from: Long, until: Long): Unit = ()
}
