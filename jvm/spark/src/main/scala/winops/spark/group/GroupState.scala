package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.aggregates.{ContentResults, CrossGroupContents, TrackedContents}
import winops.spark.expressions.{OfWindow, RowEvaluator}
import winops.spark.frames.Frames
import winops.spark.plan.{AggMode, KeepPlan}
import winops.spark.row.{RowBytes, RowShape}
import winops.spark.state.{GroupStore, StateVersion}
import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter, ShiftedSegments}
import winops.storage.rows.{RowLog, RowStore, RowTree}
import winops.window.changes.Steps
import winops.window.expression.Evaluator
import winops.window.machine.Machine
import winops.window.time.Clock

/** The state of one group: its window contents and machine, its waiting rows and its registered
  * timer. An instance is reused from group to group.
  *
  * @param plan
  *   the plan of the keep
  * @param store
  *   stores the group and the segments of its rows
  * @param steps
  *   numbers the machine's steps and queues its changes
  * @param ownsSteps
  *   whether the group numbers its own steps and stores the numbers
  * @param ofAll
  *   returns the open group, if this is the state that all groups share
  * @param functionsBefore
  *   the window functions that groups are stored with, if they are not those of `plan`
  */
final class GroupState(
    plan: KeepPlan,
    store: GroupStore,
    steps: Steps,
    ownsSteps: Boolean = true,
    ofAll: Option[() => GroupState] = None,
    functionsBefore: Option[Seq[String]] = None)
    extends CrossGroupContents.Group {
  import GroupState._

  private val spec = plan.spec
  private val pages =
    new Pages(new ShiftedSegments(store.windowSegments, GroupState.FirstPage), store.pageMemory)

  private val shape = RowShape.of(plan.content)
  private val form = new PredictedRows(plan, plan.content)
  private val waitingForm = new PredictedRows(plan, plan.waitingColumns)
  private val forms = if (spec.rowsWait) Seq(form, waitingForm) else Seq(form)

  val window: RowStore =
    if (Machine.leavesHoles(spec.policy)) new RowTree(pages, spec.policy.needsArrivals, shape)
    else {
      new RowLog(store.windowSegments, withArrival = spec.policy.needsArrivals, shape, form)
    }

  /** The results over each of the group's windows; empty if the output has none or the results
    * are across groups.
    */
  val results: Seq[ContentResults] =
    if (spec.followsContent && !spec.acrossGroups && ofAll.isEmpty) {
      val leavesFromFront = Machine.leavesFromFront(spec.policy)
      (0 until spec.windows).map(contentResults(window, leavesFromFront, _))
    } else Nil

  /** The results over the contents of all groups together, for results across groups. */
  val common: Option[CrossGroupContents] =
    ofAll.filter(_ => spec.acrossGroups).map { open =>
      new CrossGroupContents(
        plan.content,
        rows => contentResults(rows, leavesFromFront = false, number = 0, rows.contains),
        pages,
        open)
    }

  private val followed: Seq[TrackedContents] = results ++ common

  /** The columns of rows that the frames of window functions need, by the number of the row. */
  private val frameRows: Option[RowLog] = Option.when(spec.isOver) {
    val segments = new ShiftedSegments(store.windowSegments, GroupState.FirstFrameRow)
    new RowLog(segments, withArrival = false, RowShape.of(Frames.columns(plan)))
  }

  /** The frames of window functions. The rows in [[window]] are those whose results have not been
    * emitted.
    */
  val frames: Option[Frames] = frameRows.map(new Frames(plan, _, pages, functionsBefore))

  /** The number of the first row in [[window]] whose results have not been emitted. */
  var nextRow: Long = 0L

  /** The rows that wait for the watermark. */
  val waiting = new WaitingLog(plan, store.waitingSegments, waitingForm)

  val machine = new Machine(
    spec.policy,
    spec.idleMillis.getOrElse(Clock.Never),
    window,
    pages,
    evaluator(window),
    steps,
    ownsSteps)

  private var openKey: UnsafeRow = _

  /** The key of the group. */
  def key: UnsafeRow = openKey

  /** Sets the key of the group, before the group is restored or cleared. */
  def key_=(key: UnsafeRow): Unit = {
    openKey = key
    forms.foreach(_.select(key))
  }

  private val shownKeys = new ShownKey(plan)

  /** The key of the group as the output shows it. */
  def shownKey: UnsafeRow = shownKeys.of(openKey)

  /** Takes note of a row before it arrives. The first row of a group decides how the output shows
    * its key.
    */
  def arrives(row: UnsafeRow): Unit = if (!machine.isAlive) shownKeys.begin(row)

  /** The greatest applied value of the order columns; empty before the first. */
  var lastOrder: Array[Byte] = GroupState.NoOrder

  /** The time of the group's registered timer, or [[Clock.Never]]. */
  var registeredTimer: Long = Clock.Never

  /** The time of the registered timer at which rows leave the reach of frames, or
    * [[Clock.Never]]. It is not replaced when rows arrive, so each group has one such timer in
    * the time that frames reach back.
    */
  var reachTimer: Long = Clock.Never

  private def hasTimer: Boolean = registeredTimer != Clock.Never

  def isEmpty: Boolean = !machine.isAlive && waiting.size == 0

  /** The number of rows of the group, including waiting rows. A row whose results have not been
    * emitted is stored whole and, with the columns of frames, under the same number once more.
    */
  def held: Long = {
    val inWindow = frameRows.fold(machine.held) { stored =>
      window.end - Math.min(window.first, stored.first)
    }
    inWindow + waiting.size
  }

  /** The number of rows that wait for the watermark or for the rows that follow. */
  def waitingSize: Long = waiting.size + (if (spec.isOver) window.size else 0L)

  /** The time at which the group has work to do even if no row arrives: the machine's timer or
    * the release of a waiting row; [[Clock.Never]] if there is neither.
    */
  def nextDue: Long = Math.min(Math.min(machine.nextDue, nextRelease), nextKnown)

  /** The time after which a waiting row is released; [[Clock.Never]] if no row waits. */
  def nextRelease: Long =
    if (waiting.size == 0) Clock.Never else Clock.floorToMillis(waiting.firstTime) + 1

  /** The time at which the results of the next row are known, as far as time decides. */
  private def nextKnown: Long =
    if (frames.isEmpty || window.size == 0) Clock.Never
    else {
      val after = frames.get.knownAfter(nextRow)
      if (after == Long.MaxValue) Clock.Never else Clock.floorToMillis(after) + 1
    }

  /** Releases the rows that are out of the reach of frames, if all rows before the time `known`,
    * in microseconds, have arrived. Returns the time in milliseconds at which others will be;
    * [[Clock.Never]] if time does not decide.
    */
  def releaseOutOfReach(known: Long): Long = frames match {
    case Some(all) if all.leaveWithTime && window.size == 0 =>
      all.releaseOutOfReach(known)
      val after = if (waiting.size == 0) all.outOfReachAfter else Long.MaxValue
      if (after == Long.MaxValue) Clock.Never else Clock.floorToMillis(after) + 1
    case _ => Clock.Never
  }

  /** Releases the rows that left the window. They are stored until their changes have been
    * emitted.
    */
  def release(): Unit = {
    frames match {
      case None => machine.settle()
      case Some(known) =>
        if (nextRow > window.first) {
          window.release(nextRow)
          known.release(nextRow)
        }
    }
    renumber()
  }

  def clear(): Unit = {
    pages.clear()
    window.clear()
    waiting.clear()
    frameRows.foreach(_.clear())
    machine.clear()
    followed.foreach(_.clear())
    clearFrames()
    shownKeys.clear()
    lastOrder = GroupState.NoOrder
    registeredTimer = Clock.Never
    reachTimer = Clock.Never
  }

  /** Restarts the row numbers at 0 for a group that the machine has forgotten, as for a group
    * that returns in a later micro-batch. The numbers decide how rows are divided into blocks for
    * aggregation. Without the restart, results would depend on the boundaries of micro-batches.
    */
  private def renumber(): Unit = if (!machine.isAlive && window.end > 0) {
    window.discard()
    frameRows.foreach(_.discard())
    clearFrames()
    machine.restart()
    // Mode `latest` computes the results after the last step of the batch.
    if (spec.mode != AggMode.Latest) followed.foreach(_.clear())
  }

  /** Forgets the open group and removes its rows, its pages and its entry from the store. */
  def forget(): Unit = {
    window.discard()
    machine.clear()
    followed.foreach(_.clear())
    frameRows.foreach(_.discard())
    clearFrames()
    pages.discard()
    store.remove()
  }

  private def clearFrames(): Unit = {
    frames.foreach { known =>
      known.clear()
      known.rows.open()
    }
    nextRow = 0L
  }

  def save(out: ByteWriter): Unit = {
    followed.foreach(_.settle())
    frames.foreach(_.settle())
    pages.settle()
    val isRelease = hasTimer && registeredTimer == nextRelease
    val hasOrder = lastOrder.length > 0
    out.byte(StateVersion.Current)
    machine.saveClock(out)
    out.byte(
      (if (isRelease) TimerOfRelease else if (hasTimer) OwnTimer else 0) |
        (if (hasOrder) HasOrder else 0) |
        (if (pages.areUnused) 0 else HasPages) |
        waiting.kind * WaitingKind |
        (if (reachTimer == Clock.Never) 0 else ReachTimer))
    forms.foreach(_.reach(machine.now))
    if (hasTimer && !isRelease) out.number(registeredTimer - machine.now)
    if (reachTimer != Clock.Never) out.number(reachTimer - machine.now)
    if (hasOrder) out.packed(lastOrder)
    if (spec.rowsWait) waiting.save(out, machine.now)
    if (!pages.areUnused) pages.saveNumber(out)
    window.save(out)
    machine.save(out, nearLastArrival)
    frameRows.foreach(_.save(out))
    followed.foreach(_.save(out))
    frames.foreach(_.save(out))
    shownKeys.save(out)
  }

  def restore(in: ByteReader): Unit = {
    restoreRows(in)
    followed.foreach(_.restore(in))
    frames.foreach(_.restore(in, nextRow))
    shownKeys.restore(in)
    in.finish()
  }

  /** Restores everything but the tracked contents, for readers that do not know the results of
    * the query.
    */
  def restoreRows(in: ByteReader): Unit = {
    StateVersion.check(in)
    machine.restoreClock(in)
    val flags = in.byte() & 0xff
    forms.foreach(_.reach(machine.now))
    registeredTimer =
      if ((flags & OwnTimer) != 0) machine.now + in.number() else Clock.Never
    reachTimer = if ((flags & ReachTimer) != 0) machine.now + in.number() else Clock.Never
    lastOrder = if ((flags & HasOrder) != 0) in.packed() else GroupState.NoOrder
    val kind = (flags & ~ReachTimer) / WaitingKind
    if (spec.rowsWait) waiting.restore(in, kind, machine.now) else waiting.clear()
    if ((flags & TimerOfRelease) != 0) registeredTimer = nextRelease
    if ((flags & HasPages) != 0) pages.restore(in) else pages.clear()
    window.restore(in)
    machine.restore(in, nearLastArrival)
    frameRows.foreach(_.restore(in))
    nextRow = window.first
  }

  private def nearLastArrival: Long = window match {
    case log: RowLog => log.newestTime(machine.now)
    case _ => machine.now
  }

  /** Creates the results over the window with this number, whose rows are `rows`. */
  private def contentResults(
      rows: RowStore,
      leavesFromFront: Boolean,
      number: Int,
      isThere: Long => Boolean = _ => true): ContentResults =
    new ContentResults(
      plan.results.collect {
        case OfWindow(`number`, result) => result
        case result if !result.isInstanceOf[OfWindow] => result
      },
      plan.by,
      plan.content,
      (row, ordinal) => RowBytes.pointTo(row, rows, ordinal),
      pages,
      leavesFromFront,
      spec.givesOldValues,
      spec.postsOnSizeChange,
      isThere = isThere)

  /** Creates the evaluator of the policy's expressions over the rows of a window. */
  private def evaluator(rows: RowStore): Evaluator =
    if (plan.expressions.isEmpty) Evaluator.None
    else {
      new RowEvaluator(
        plan.expressions,
        plan.content,
        (row, ordinal) => RowBytes.pointTo(row, rows, ordinal))
    }
}

object GroupState {
  val NoOrder: Array[Byte] = Array.emptyByteArray

  // The second byte of a stored group.
  private val OwnTimer = 1
  private val TimerOfRelease = 2
  private val HasOrder = 4
  private val HasPages = 8
  private val WaitingKind = 16
  private val ReachTimer = 128

  /** The first segment number of pages, above the numbers of a log's own segments. */
  private val FirstPage = 1L << 60

  /** The first segment number of the columns that frames need, above those of pages. */
  private val FirstFrameRow = 1L << 61
}
