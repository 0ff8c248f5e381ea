package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.aggregates.GroupAggregates
import winops.spark.expressions.{OfWindow, RowEvaluator}
import winops.spark.internal.{KeepMetrics, WinopsErrors}
import winops.spark.plan.{AggMode, KeepPlan, Output}
import winops.spark.row.RowBytes
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.{PatchedRowLog, RowLog, RowStore}
import winops.terms.RowOperation
import winops.window.changes.ChangeQueue
import winops.window.expression.Evaluator
import winops.window.machine.Machine
import winops.window.time.{Clock, GroupClock}

/** Retains the rows of a group in its windows.
  *
  * @param changes
  *   numbers the machine's steps, and queues their changes
  * @param ownsSteps
  *   whether the group numbers its own steps and stores the numbers
  */
final class KeepOperation(
    plan: KeepPlan,
    storage: GroupStorage,
    changes: ChangeQueue,
    ownsSteps: Boolean = true)
    extends Operation {
  private val spec = plan.spec
  private val emitsRows = spec.output == Output.Rows
  private val punctuation = Punctuation.of(plan)
  private val emptyPeriods = new EmptyPeriods(spec)
  private val operations = RowOperations.of(plan)
  private val isKeyed = spec.policy.isKeyed
  private val isLimited = !spec.failsOnRefused && !spec.isBounded
  private var mostHeld = Long.MaxValue
  private var refused = Refusal.None
  private var refusedAsRead = 0L
  private var afterFinal = 0L
  private val askingFlag = new AskingFlag(plan, plan.content)
  private val hasAsking = askingFlag.isKnown
  private var askingRow: UnsafeRow = _
  private var lookedUp = 0L

  /** The rows of the windows. */
  val window: RowStore =
    if (spec.policy.isKeyed) storage.patchedLog(spec.policy.needsArrivals)
    else if (spec.policy.leavesHoles) storage.rowTree(spec.policy.needsArrivals)
    else storage.rowLog(spec.policy.needsArrivals)

  /** The results over each of the group's windows; empty if the output has none or the results
    * are across groups.
    */
  val results: Seq[GroupAggregates] =
    if (!spec.followsContent || spec.acrossGroups) Nil
    else {
      val leavesFromFront = spec.policy.leavesFromFront
      (0 until spec.windows).map {
        KeepOperation.contentResults(plan, storage, window, leavesFromFront, _)
      }
    }

  val machine = new Machine(
    spec.policy,
    spec.idleMillis.getOrElse(Clock.Never),
    window,
    storage.pages,
    if (plan.expressions.isEmpty) Evaluator.None
    else {
      new RowEvaluator(
        plan.expressions,
        plan.content,
        (row, ordinal) => RowBytes.pointTo(row, window, ordinal))
    },
    changes,
    ownsSteps)

  override val clock: GroupClock = machine.clock
  override def held: Long = machine.held
  override def waiting: Long = 0L
  override def nextDue: Long = machine.nextDue

  // Before most rows, no timer fires.
  override def fireNext(instant: Long): Boolean = !machine.reaches(instant) && {
    val before = changes.rowsMoved
    val fires = machine.fire(instant)
    if (fires) emptyPeriods.note(changed = changes.rowsMoved != before)
    if (emitsRows) changes.clear()
    fires
  }

  override def refusal: Int = refused

  /** The row that reads the windows now; null if there is none. It is valid until the next row of
    * the group.
    */
  def asking: UnsafeRow = askingRow

  /** Takes note that the output of the row [[asking]] has been read, or that it has none. */
  def takeAsking(): Unit = askingRow = null

  override def limit(rows: Long): Unit = mostHeld = rows

  override def arrive(row: UnsafeRow, at: Long): Boolean = {
    refused = Refusal.None
    if (hasAsking && askingFlag.isSet(row)) {
      machine.ask()
      askingRow = row
      lookedUp += 1
      false
    } else enter(row, at)
  }

  private def enter(row: UnsafeRow, at: Long): Boolean = {
    emptyPeriods.clear()
    val kind = punctuation.of(row)
    val isRow = kind == Punctuation.None && !machine.isFinished
    if (isRow) {
      if (isKeyed) operate(row, at)
      else if (isLimited && held >= mostHeld) refuse(Refusal.MaxRows)
      else {
        RowBytes.append(window, at, row)
        if (!machine.arrive(at)) refused = Refusal.NotAdmitted
      }
    } else if (kind == Punctuation.None) afterFinal += 1
    else if (!machine.isFinished) {
      if (kind == Punctuation.Window) machine.punctuate(at) else machine.finish(at)
    }
    if (emitsRows) changes.clear()
    isRow
  }

  /** Applies a row with a primary key. */
  private def operate(row: UnsafeRow, at: Long): Unit = {
    val operation = operations.of(row)
    if (operation == RowOperation.Unknown) {
      if (spec.failsOnRefused) {
        throw WinopsErrors.runtime(
          "WINOPS_OP_UNKNOWN",
          "column" -> spec.operation.getOrElse(""),
          "words" -> RowOperation.Words.map(_._1).mkString(", "))
      }
      refuse(Refusal.OperationUnknown)
    } else {
      val missing = operations.missingKey(row)
      if (missing < 0) {
        RowBytes.append(window, at, row)
        val hasRoom = !isLimited || held < mostHeld
        refused = Refusal.of(machine.operate(operation, at, hasRoom))
      } else {
        if (spec.failsOnRefused) {
          throw WinopsErrors.runtime("WINOPS_KEY_NULL", "column" -> spec.policy.key(missing).sql)
        }
        refuse(Refusal.KeyMissing)
      }
    }
  }

  /** Refuses a row that is not stored. A group without rows is not stored, so no later row may
    * depend on the time of this one.
    */
  private def refuse(reason: Int): Unit = {
    refused = reason
    refusedAsRead += 1
    if (!clock.isAlive) clock.clear()
  }

  override def endBatch(known: Long, isLast: Boolean): Unit =
    if (emitsRows) machine.emitContents()

  override def release(): Unit = {
    askingRow = null
    machine.settle()
    renumber()
  }

  /** Restarts the row numbers at 0 for a group that the machine has forgotten, as for a group
    * that returns in a later micro-batch. The numbers decide how rows are divided into blocks for
    * aggregation. Without the restart, results would depend on the boundaries of micro-batches.
    */
  private def renumber(): Unit = if (!clock.isAlive && window.end > 0) {
    window.discard()
    machine.restart()
    // Mode `latest` computes the results after the last step of the batch.
    if (spec.mode != AggMode.Latest) results.foreach(_.clear())
  }

  override def releaseOutOfReach(known: Long): Long = Clock.Never

  override def clear(): Unit = {
    emptyPeriods.clear()
    window.clear()
    machine.clear()
    results.foreach(_.clear())
  }

  override def forget(): Unit = {
    window.discard()
    machine.clear()
    results.foreach(_.clear())
  }

  override def settle(): Unit = results.foreach(_.settle())

  override def save(out: ByteWriter): Unit = {
    window.save(out)
    machine.save(out, nearLastArrival)
    results.foreach(_.save(out))
  }

  override def restoreRows(in: ByteReader): Unit = {
    emptyPeriods.clear()
    window.restore(in)
    machine.restore(in, nearLastArrival)
  }

  override def restoreResults(in: ByteReader): Unit = results.foreach(_.restore(in))

  private def nearLastArrival: Long = window match {
    case log: RowLog => log.newestTime(clock.now)
    case patched: PatchedRowLog => patched.newest.newestTime(clock.now)
    case _ => clock.now
  }

  override def count(metrics: KeepMetrics): Unit = {
    metrics.lookedUp += lookedUp
    metrics.afterFinal += afterFinal
    metrics.refused += machine.rowsRefused + refusedAsRead
    metrics.updated += machine.rowsUpdated
    metrics.removed += machine.rowsDeleted
    metrics.notHeld += machine.rowsNotHeld
    metrics.evictedSilently += changes.rowsEvictedSilently
    metrics.expired += machine.groupsForgotten
  }
}

object KeepOperation {

  /** Creates the results over the window with this number, whose rows are `rows`. */
  private[group] def contentResults(
      plan: KeepPlan,
      storage: GroupStorage,
      rows: RowStore,
      leavesFromFront: Boolean,
      number: Int,
      isThere: Long => Boolean = _ => true): GroupAggregates =
    new GroupAggregates(
      plan.results.collect {
        case OfWindow(`number`, result) => result
        case result if !result.isInstanceOf[OfWindow] => result
      },
      plan.by,
      plan.content,
      (row, ordinal) => RowBytes.pointTo(row, rows, ordinal),
      storage.pages,
      leavesFromFront,
      plan.spec.emitsOldValues,
      plan.spec.postsOnSizeChange,
      isThere = isThere)
}
