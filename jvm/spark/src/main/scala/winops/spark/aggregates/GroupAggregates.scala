package winops.spark.aggregates

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.winops.internal.Catalyst

import winops.aggregation.{FrontSummary, TreeSummary, WindowSummary}
import winops.spark.expressions.{AggregateEvaluator, WindowAggregate}
import winops.spark.row.{KeyTypes, RowShape, StoredRows}
import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter}

/** Maintains a query's aggregates over the window contents of the open group. A task has one
  * instance, which serves all of its groups.
  *
  * Functions with mergeable buffers are maintained incrementally, distinct values are counted,
  * and all other functions are computed from all rows on each request.
  *
  * @param results
  *   expressions over [[WindowAggregate]]s, [[OfLastArrival]], `by` and columns of a row
  * @param by
  *   expressions whose distinct combinations have results of their own
  * @param content
  *   the columns of a row
  * @param rows
  *   the stored rows
  * @param pages
  *   the storage of the aggregates
  * @param leavesFromFront
  *   true if rows are evicted in the order of their insertion
  * @param keepsOldValues
  *   true if visitors also get the results before a step
  * @param postsOnSizeChange
  *   true if only steps that change the number of rows are visited; the old results then contain
  *   the [[OfLastArrival]] values of the last visited step
  * @param foldsRows
  *   returns true for functions that are to be computed from all rows, oldest to newest
  * @param isThere
  *   returns false for rows in the window that were removed after [[needsRow]] was false
  */
final class GroupAggregates(
    results: Seq[Expression],
    by: Seq[Expression],
    content: Seq[Attribute],
    rows: StoredRows,
    pages: Pages,
    leavesFromFront: Boolean,
    keepsOldValues: Boolean = false,
    postsOnSizeChange: Boolean = false,
    foldsRows: WindowAggregate => Boolean = _ => false,
    isThere: Long => Boolean = _ => true)
    extends StepAggregates {
  private val isDivided = by.nonEmpty
  private val plan = new AggregatePlan(results, by, foldsRows)

  private val buffers = new FunctionBuffers(plan.merged, content, rows)
  private val tree = new TreeSummary(buffers, pages.newMap(), isThere)
  private val summary: WindowSummary[InternalRow] =
    if (leavesFromFront && !isDivided) new FrontSummary(buffers, pages) else tree
  private val counted = plan.counted.map { aggregate =>
    new DistinctCounts(
      aggregate.function.children,
      aggregate.filter,
      content,
      rows,
      pages.newMap())
  }.toArray
  private val evaluators = plan.recomputed.map(new AggregateEvaluator(_, content)).toArray

  private val lastValues = UnsafeProjection.create(plan.ofLastArrival, content)
  private var lastArrival: UnsafeRow = _
  private val noArrival = new GenericInternalRow(plan.ofLastArrival.size)
  private val storesVisited = postsOnSizeChange && plan.ofLastArrival.nonEmpty

  /** The [[OfLastArrival]] values at the last visited step. */
  private var visitedArrival: UnsafeRow = _

  /** The results before the step; null if the step has changed nothing or old values are not
    * kept.
    */
  private var old: UnsafeRow = _

  /** The number of rows inserted less the number evicted since the start of the step. */
  private var growth = 0L

  private val byOf = UnsafeProjection.create(by.map(KeyTypes.normalized), content)

  /** The values of `by` as a row writes them, if their normalized form has other types. */
  private val shownBy: Option[UnsafeProjection] =
    Option.unless(by.map(_.dataType).forall(KeyTypes.areShown)) {
      UnsafeProjection.create(by.map(Catalyst.normalizeFloatingNumbers), content)
    }

  /** The values of `by` that the step has changed: the values that the results show, which are
    * those of the first row that the step has inserted or evicted, and the results before the
    * step.
    */
  private val touched = mutable.LinkedHashMap.empty[UnsafeRow, (UnsafeRow, UnsafeRow)]
  private var openBy: InternalRow = InternalRow.empty

  private val row = new UnsafeRow(content.size)
  private val programmed = plan.merged.indices.filter(buffers.evaluation(_).isEmpty).toArray
  private val others = new GenericInternalRow(plan.outside(programmed.toSeq).size)
  private val known = new JoinedRow
  private val input = new JoinedRow
  private val aside = new JoinedRow
  private val withRow = new JoinedRow
  private var isFresh = false
  private val evaluated = plan.evaluated(buffers)
  private val named = AttributeSet(evaluated)

  /** True if the results depend on aggregation buffers only. */
  private val areOfBuffers = named.subsetOf(AttributeSet(buffers.attributes))

  /** True if a result depends on columns of the row that [[beside]] is called with. */
  private val dependOnRow = named.intersect(AttributeSet(content)).nonEmpty

  private val projection = UnsafeProjection.create(
    evaluated,
    if (areOfBuffers) buffers.attributes
    else {
      buffers.attributes ++ plan.outside(programmed.toSeq) ++ plan.lastColumns ++
        plan.byColumns ++ content
    })

  /** The number of values of `by` that the step has changed. */
  private[aggregates] def touchedValues: Int = touched.size

  /** The input row of the projection, without the columns of the row of [[beside]]. */
  private var answers: InternalRow = _
  private var last: UnsafeRow = _

  override def insert(from: Long, until: Long): Unit = {
    change(from, until, isIn = true)
    if (plan.ofLastArrival.nonEmpty) {
      rows.pointTo(row, until - 1)
      lastArrival = lastValues(row).copy()
    }
  }

  override def remove(from: Long, until: Long): Unit = change(from, until, isIn = false)

  override def visit(visit: (UnsafeRow, UnsafeRow) => Unit): Unit = {
    if (isDivided) {
      touched.foreach { case (values, (shown, before)) =>
        open(values)
        openBy = shown
        refresh()
        visit(before, projection(answers))
      }
    } else if (!postsOnSizeChange || growth != 0L) {
      refresh()
      val now = projection(answers)
      // A step without a change replaces the values by equal ones.
      visit(if (keepsOldValues && old == null) now else old, now)
      visitedArrival = lastArrival
    }
    startStep()
  }

  /** Returns the results for a row that is in the window or was evicted by this step. The
    * returned row is valid until the next call.
    */
  def beside(ordinal: Long): UnsafeRow =
    if (dependOnRow) {
      refresh()
      rows.pointTo(row, ordinal)
      projection(withRow(answers, row))
    } else {
      if (!isFresh) {
        refresh()
        last = projection(answers)
      }
      last
    }

  /** Returns true if no row is in the window; only without `by`. */
  def isEmpty: Boolean = summary.isEmpty

  /** Visits the rows in the window in the order of their insertion. */
  def foreach(visit: Long => Unit): Unit = summary.foreach(visit)

  /** Returns true if the results need a row, or another row of the same
    * [[TreeSummary.RowsOfNode]], even if all these rows stay in the window for ever. The changes
    * must be settled.
    */
  def needsRow(ordinal: Long): Boolean =
    isDivided || evaluators.nonEmpty || !tree.isSummed(ordinal)

  override def release(): Unit = ()

  override def clear(): Unit = {
    summary.clear()
    counted.foreach(_.clear())
    lastArrival = null
    visitedArrival = null
    startStep()
    isFresh = false
  }

  override def settle(): Unit = summary.settle()

  override def save(out: ByteWriter): Unit = {
    summary.save(out)
    counted.foreach(_.save(out))
    if (plan.ofLastArrival.nonEmpty) saveArrival(lastArrival, out)
    if (storesVisited) saveArrival(visitedArrival, out)
  }

  /** Starts with a group that has rows in its window, without a step.
    *
    * @param visitRows
    *   passes ranges of these rows, from an ordinal until another
    * @param newest
    *   the stored values of the newest row, as [[save]] writes them; none if there are none
    */
  def startWith(visitRows: ((Long, Long) => Unit) => Unit, newest: Seq[Array[Byte]]): Unit = {
    clear()
    visitRows { (from, until) =>
      var start = from
      while (start < until) {
        val end = if (isDivided) Math.min(start + GroupAggregates.RowsOfStep, until) else until
        change(start, end, isIn = true)
        if (touched.size >= GroupAggregates.RowsOfStep) touched.clear()
        start = end
      }
    }
    startStep()
    isFresh = false
    lastArrival = newest.headOption.map(arrivalOf).orNull
    visitedArrival = if (storesVisited) newest.lift(1).map(arrivalOf).orNull else null
  }

  override def restore(in: ByteReader): Unit = {
    summary.restore(in)
    counted.foreach(_.restore(in))
    startStep()
    isFresh = false
    lastArrival = if (plan.ofLastArrival.nonEmpty) restoreArrival(in) else null
    visitedArrival = if (storesVisited) restoreArrival(in) else null
  }

  private def startStep(): Unit = {
    old = null
    growth = 0L
    touched.clear()
  }

  private def saveArrival(values: UnsafeRow, out: ByteWriter): Unit =
    out.block(if (values == null) Array.emptyByteArray else values.getBytes)

  private def restoreArrival(in: ByteReader): UnsafeRow = arrivalOf(in.block())

  private def arrivalOf(bytes: Array[Byte]): UnsafeRow =
    if (bytes.isEmpty) null
    else {
      val values = new UnsafeRow(plan.ofLastArrival.size)
      RowShape.of(plan.ofLastArrival).pointTo(values, bytes)
      values
    }

  /** Returns the results of the last visited step; null if old values are not kept. */
  private def oldResults(): UnsafeRow =
    if (!keepsOldValues) null
    else {
      val newest = lastArrival
      if (postsOnSizeChange && newest != visitedArrival) {
        lastArrival = visitedArrival
        isFresh = false
      }
      refresh()
      lastArrival = newest
      projection(answers).copy()
    }

  private def change(from: Long, until: Long, isIn: Boolean): Unit = {
    if (!isDivided && old == null) old = oldResults()
    growth += (if (isIn) until - from else from - until)
    isFresh = false
    if (!isDivided) {
      if (isIn) summary.insert(from, until) else summary.remove(from, until)
    }
    if (isDivided || counted.nonEmpty) {
      var ordinal = from
      while (ordinal < until) {
        if (isDivided) {
          rows.pointTo(row, ordinal)
          val values = byOf(row)
          open(values)
          if (!touched.contains(values)) {
            val own = values.copy()
            val shown = shownBy.fold(own)(_(row).copy())
            openBy = shown
            touched.update(own, (shown, oldResults()))
          }
          if (isIn) summary.insert(ordinal, ordinal + 1)
          else summary.remove(ordinal, ordinal + 1)
        }
        counted.foreach(counts => if (isIn) counts.insert(ordinal) else counts.remove(ordinal))
        ordinal += 1
      }
    }
  }

  private def open(values: UnsafeRow): Unit = {
    isFresh = false
    openBy = values
    val prefix = GroupAggregates.prefixOf(values.getBytes)
    tree.open(prefix)
    counted.foreach(_.open(prefix))
  }

  /** Updates the projection's input if rows have changed since the last call. */
  private def refresh(): Unit = if (!isFresh) {
    val total = summary.total
    var place = 0
    var i = 0
    while (i < programmed.length) {
      others.update(place, buffers.result(programmed(i), total))
      place += 1
      i += 1
    }
    i = 0
    while (i < counted.length) {
      others.update(place, counted(i).result)
      place += 1
      i += 1
    }
    if (evaluators.nonEmpty) recompute(place)
    answers =
      if (areOfBuffers) total
      else {
        val arrived = if (lastArrival == null) noArrival else lastArrival
        input(known(total, others), aside(arrived, openBy))
      }
    isFresh = true
  }

  private def recompute(from: Int): Unit = {
    evaluators.foreach(_.clear())
    val member = new UnsafeRow(content.size)
    summary.foreach { ordinal =>
      rows.pointTo(member, ordinal)
      evaluators.foreach(_.add(member))
    }
    var i = 0
    while (i < evaluators.length) {
      others.update(from + i, evaluators(i).result)
      i += 1
    }
  }
}

private object GroupAggregates {

  /** Number of rows after which the values that they have touched are forgotten, if no step needs
    * them.
    */
  val RowsOfStep = 4096L

  /** Prepends the length, so that no prefix begins with another one. */
  def prefixOf(values: Array[Byte]): Array[Byte] = {
    val prefix = new Array[Byte](Integer.BYTES + values.length)
    java.nio.ByteBuffer.wrap(prefix).putInt(values.length).put(values)
    prefix
  }
}
