package winops.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, RowOrdering, SortOrder, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.Ascending

/** The rows of one task, group after group, and in each group in the order in which they are to
  * be applied.
  *
  * A run of rows whose keys have equal hashes is put in order here: nearly always it is one group
  * that is in order already.
  */
trait GroupedRows {

  /** Moves to the next group, whose rows [[next]] then gives; false when there is none. */
  def nextGroup(): Boolean

  /** The key of the group; valid until the next call of [[nextGroup]]. */
  def key: UnsafeRow

  def hasNext: Boolean

  /** The next row of the group; valid until the next call of any method. */
  def next(): UnsafeRow
}

object GroupedRows {

  /** The groups of the current task.
    *
    * @param rows
    *   as the plan asks for them
    */
  def ofTask(plan: KeepPlan, input: Seq[Attribute], rows: Iterator[InternalRow]): GroupedRows = {
    val unsafe = rows.asInstanceOf[Iterator[UnsafeRow]]
    GroupedRows(
      plan,
      input,
      if (plan.spec.runsInOneTask) unsafe
      else new RowsByHash(unsafe, KeyHash(plan.keys, input), input.size))
  }

  /** @param rows
    *   in order if all are one group, else with those of equal [[KeyHash]] together
    */
  def apply(plan: KeepPlan, input: Seq[Attribute], rows: Iterator[UnsafeRow]): GroupedRows =
    if (plan.spec.runsInOneTask) new OneGroup(rows) else new HashedGroups(plan, input, rows)
}

/** All rows of the task are one group, and the input is sorted. */
private final class OneGroup(rows: Iterator[UnsafeRow]) extends GroupedRows {
  private var started = false

  override val key: UnsafeRow = {
    val row = new UnsafeRow(0)
    row.pointTo(new Array[Byte](0), 0)
    row
  }

  override def nextGroup(): Boolean = {
    val first = !started && rows.hasNext
    started = true
    first
  }

  override def hasNext: Boolean = rows.hasNext
  override def next(): UnsafeRow = rows.next()
}

private final class HashedGroups(plan: KeepPlan, input: Seq[Attribute], rows: Iterator[UnsafeRow])
    extends GroupedRows {
  private val keyOf = UnsafeProjection.create(plan.keys, input)
  private val hashOf = KeyHash(plan.keys, input)
  private val keyThenArrival =
    RowOrdering.create(plan.keys.map(SortOrder(_, Ascending)) ++ plan.arrival, input)
  private val run = new SortedRun(keyThenArrival, input.size)

  private var ahead: UnsafeRow = _
  private var currentKey: UnsafeRow = _
  private var peeked: UnsafeRow = _

  read()

  override def key: UnsafeRow = currentKey

  override def nextGroup(): Boolean = {
    while (hasNext) next()
    if (peek() == null) readRun()
    val more = peek() != null
    if (more) currentKey = keyOf(peek()).copy()
    more
  }

  override def hasNext: Boolean =
    peek() != null && (run.isOneKey || keyOf(peeked) == currentKey)

  override def next(): UnsafeRow = {
    val row = peek()
    peeked = null
    row
  }

  private def peek(): UnsafeRow = {
    if (peeked == null) peeked = run.next()
    peeked
  }

  private def read(): Unit =
    ahead = if (rows.hasNext) rows.next() else null

  private def readRun(): Unit =
    if (ahead != null) {
      val hash = hashOf(ahead)
      val first = keyOf(ahead).copy()
      var oneKey = true
      var more = true
      run.clear()
      while (more) {
        run.add(ahead)
        read()
        more = ahead != null && {
          val isFirst = keyOf(ahead) == first
          val isInRun = isFirst || hashOf(ahead) == hash
          if (isInRun && !isFirst) oneKey = false
          isInRun
        }
      }
      run.sort(oneKey)
    }
}
