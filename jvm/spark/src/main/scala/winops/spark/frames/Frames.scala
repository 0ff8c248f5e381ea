package winops.spark.frames

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import winops.spark.aggregates.AggregateProperties
import winops.spark.expressions.WindowAggregate
import winops.spark.plan.{FrameBound, FramedFunction, OffsetValue, OverPlan, PositionFunction}
import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}
import winops.storage.rows.RowLog

/** Evaluates the window functions of an OVER for the rows of the open group, in the order of the
  * rows. Functions of one frame share its boundaries.
  *
  * The state does not depend on the order in which the query names the functions.
  *
  * @param whole
  *   the rows whose results have not been emitted
  * @param log
  *   stores the columns of [[Frames.columns]] of the rows before
  * @param pages
  *   the storage of partial aggregates
  * @param formsBefore
  *   the forms in which groups are stored, if another query has stored them
  */
private[spark] final class Frames(
    plan: OverPlan,
    whole: RowLog,
    log: RowLog,
    pages: Pages,
    formsBefore: Option[Seq[FrameForm]] = None) {
  import Frames._

  /** The rows as far as frames need them. */
  val rows = new FrameRows(columns(plan), plan.content, plan.sortKeys, whole, log)

  private val parts =
    Frames.parts(functions(plan)).map(some => FunctionGroup(some, valuesOf(some, pages)))

  /** The pages of [[partsBefore]]. Their partial aggregates are numbered as they were created,
    * which is not as in [[parts]].
    */
  private val pagesBefore = pages.another()

  /** Readers of what groups are stored with, if another query has stored them. */
  private val partsBefore: Option[Seq[StoredFrame]] =
    formsBefore.map(_.map(new StoredFrame(_, pagesBefore)))
  private lazy val forms = Frames.forms(plan)
  private val moved = new ByteWriter

  private val values = parts.map(_.values).toArray
  private val joined = Array.fill(Math.max(1, values.length))(new JoinedRow)

  /** Sorts the values of all parts into the order of the plan's results. */
  private val inOrder = {
    val known = parts.flatMap(_.functions)
    UnsafeProjection.create(plan.results.map { result =>
      val place = known.indexWhere(_ eq sameAs(result, plan))
      BoundReference(place, result.dataType, nullable = true)
    })
  }

  /** Returns true if no further row can change the results of `row`. */
  def isKnown(row: Long): Boolean = {
    var i = 0
    while (i < values.length && values(i).isKnown(row)) i += 1
    i == values.length
  }

  /** The results of `row`, the row behind that of the last call; valid until the next call. */
  def results(row: Long): UnsafeRow = {
    var all: InternalRow = InternalRow.empty
    var i = 0
    while (i < values.length) {
      all = joined(i)(all, values(i).of(row))
      i += 1
    }
    inOrder(all)
  }

  /** The time in microseconds after which the results of `row` are known; `Long.MaxValue` if time
    * does not decide, or a function waits for a row.
    */
  def knownAfter(row: Long): Long = {
    var latest = Long.MinValue
    var i = 0
    while (i < values.length) {
      val time = values(i).knownAfter(row)
      if (time != Long.MaxValue || !values(i).isKnown(row)) latest = Math.max(latest, time)
      i += 1
    }
    if (latest == Long.MinValue) Long.MaxValue else latest
  }

  /** Releases the rows that the results of `next` and of later rows do not depend on. */
  def release(next: Long): Unit = {
    val from = neededFrom(values, next)
    if (from > log.first) log.release(Math.min(from, log.end))
  }

  private def neededFrom(some: Array[FrameValues], next: Long): Long = {
    var from = next
    var i = 0
    while (i < some.length) {
      from = Math.min(from, some(i).neededFrom(next))
      i += 1
    }
    from
  }

  private val timeOrdinal =
    plan.time.fold(-1)(time => rows.columns.indexWhere(_.exprId == time.exprId))
  private val newest = new UnsafeRow(rows.columns.size)
  private val (ofTime, others) = values.partition(_.reach != Long.MaxValue)

  /** Returns true if rows may leave the reach of frames without a further row. */
  val leaveWithTime: Boolean = timeOrdinal >= 0 && ofTime.nonEmpty

  /** Releases the rows that rows from the time `known` on do not have in their frames. The
    * results of all stored rows have been emitted.
    */
  def releaseOutOfReach(known: Long): Unit = if (log.first < log.end) {
    val last = lastTime
    val behind = ofTime.filter(frame => after(last, frame.reach) < known)
    behind.foreach(_.leaveBehind(log.end))
    if (behind.nonEmpty) release(log.end)
  }

  /** The time, in microseconds, after which [[releaseOutOfReach]] releases rows; `Long.MaxValue`
    * if it does not. Rows that another frame needs whatever time passes are not released.
    */
  def outOfReachAfter: Long = {
    val end = log.end
    if (log.first >= neededFrom(others, end)) Long.MaxValue
    else {
      val needed = ofTime.filter(_.neededFrom(end) < end)
      if (needed.isEmpty) Long.MaxValue else after(lastTime, needed.map(_.reach).max)
    }
  }

  private def lastTime: Long = {
    rows.pointTo(newest, log.end - 1)
    newest.getLong(timeOrdinal)
  }

  private def after(time: Long, reach: Long): Long =
    if (time > Long.MaxValue - reach) Long.MaxValue else time + reach

  /** Starts with a group that has no rows. */
  def clear(): Unit = {
    rows.open()
    values.foreach(_.clear())
  }

  /** Brings the stored pages up to date before they are written. */
  def settle(): Unit = values.foreach(_.settle())

  def save(out: ByteWriter): Unit = {
    out.number(values.length.toLong)
    values.foreach(_.save(out))
  }

  /** Restores the functions of a group, and computes those that it is not stored with from the
    * rows.
    *
    * @param next
    *   the first row whose results were not emitted
    */
  def restore(in: ByteReader, next: Long): Unit = {
    rows.open()
    val size = in.count(MaxParts)
    val stored = partsBefore.fold(parts.size)(_.size)
    if (size != stored) {
      throw new CorruptStateException(s"there are $size frames instead of $stored")
    }
    partsBefore match {
      case None => parts.foreach(_.values.restore(in))
      case Some(before) =>
        pagesBefore.startAs(pages)
        before.foreach(_.restore(in))
        before.foreach(_.clear())
        // The new partial aggregates may have entries with the numbers of the former ones.
        pagesBefore.settle()
        parts.zip(forms).foreach { case (part, form) => takeOver(part, form, before, next) }
        release(next)
    }
  }

  /** Takes over the values that are stored without pages, and computes others from the rows. */
  private def takeOver(
      part: FunctionGroup,
      form: FrameForm,
      before: Seq[StoredFrame],
      next: Long): Unit = {
    moved.clear()
    if (before.exists(_.write(form, moved))) part.values.restore(new ByteReader(moved.toArray))
    else part.values.startFrom(log.first, next)
  }

  private def valuesOf(functions: Seq[FramedFunction], pages: Pages): FrameValues =
    if (isShared(functions.head)) ofFrame(functions, pages) else ofOne(functions.head)

  private def ofFrame(functions: Seq[FramedFunction], pages: Pages): FrameValues = {
    val frame = functions.head
    val aggregates = functions.map(_.child).collect {
      case aggregate: WindowAggregate => aggregate
      case position: PositionFunction => position.aggregate
    }
    val upper = Boundary.upper(frame.upper, rows, plan.time)
    if (frame.lower == FrameBound.Unbounded) new RunningFrame(aggregates, rows, upper)
    else {
      val lower = Boundary.lower(frame.lower, rows, plan.time)
      new SlidingFrame(aggregates, rows, lower, upper, pages, foldsRows)
    }
  }

  private def ofOne(one: FramedFunction): FrameValues = one.child match {
    case value: OffsetValue if !value.ignoreNulls || value.offset == 0 =>
      new OffsetRow(value, rows)
    case value: OffsetValue if value.offset < 0 => new LagOfValues(value, rows)
    case value: OffsetValue => new LeadOfValues(value, rows)
    case PositionFunction(nth: NthValue, _) =>
      new NthRow(
        nth,
        rows,
        Boundary.lower(one.lower, rows, plan.time),
        Boundary.upper(one.upper, rows, plan.time))
    case other => throw new IllegalArgumentException(other.sql)
  }

  private def foldsRows(aggregate: WindowAggregate): Boolean = Frames.foldsRows(plan, aggregate)
}

private[spark] object Frames {
  private final case class FunctionGroup(functions: Seq[FramedFunction], values: FrameValues)

  private val MaxParts = 1L << 20

  /** The columns of an input row that the frames of a plan need, in the order of the input. */
  def columns(plan: OverPlan): Seq[Attribute] = columns(functions(plan), plan)

  /** The columns of an input row that the frames of some functions need. */
  def columns(functions: Seq[FramedFunction], plan: OverPlan): Seq[Attribute] = {
    val bounds = functions.flatMap(one => Seq(one.lower, one.upper))
    val ofBounds = bounds.flatMap {
      case by: FrameBound.ByPeers => by.keysOf(plan.sortKeys).flatMap(_.references)
      case _: FrameBound.ByTime => plan.time.toSeq
      case _ => Nil
    }
    val needed = AttributeSet(functions.flatMap(_.references) ++ ofBounds)
    plan.content.filter(needed.contains)
  }

  /** The functions of a plan, each once, sorted by their identities. */
  def functions(plan: OverPlan): Seq[FramedFunction] = plan.functions.map(_._2)

  /** The forms in which the functions of a plan are stored, in the order of their parts. */
  def forms(plan: OverPlan): Seq[FrameForm] = {
    val named = plan.functions
    parts(functions(plan)).map { some =>
      val ofPart = some.map(function => named.find(_._2 eq function).get)
      FrameForm.of(ofPart, foldsRows(plan, _))
    }
  }

  private def foldsRows(plan: OverPlan, aggregate: WindowAggregate): Boolean =
    plan.spec.exactFloats && AggregateProperties.isFloating(aggregate.function)

  /** Divides functions into those that share the boundaries of a frame, and single ones. */
  private def parts(functions: Seq[FramedFunction]): Seq[Seq[FramedFunction]] = {
    val (framed, single) = functions.partition(isShared)
    val shared =
      framed.groupBy(one => FramedFunction.text(one.lower, one.upper)).toSeq.sortBy(_._1)
    shared.map(_._2) ++ single.map(Seq(_))
  }

  /** The function of a plan that stands for a result. */
  private def sameAs(result: Expression, plan: OverPlan): FramedFunction = plan.functions
    .collectFirst { case (_, one) if one eq result => one }
    .getOrElse {
      val identity = plan.identityOf(result)
      plan.functions.collectFirst { case (`identity`, one) => one }.get
    }

  /** Returns true for functions that share the boundaries of their frame. */
  def isShared(one: FramedFunction): Boolean = one.child match {
    case PositionFunction(_: NthValue, _) => one.lower == FrameBound.Unbounded
    case _: PositionFunction | _: WindowAggregate => true
    case _ => false
  }
}
