package winops.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, RowOrdering, SortOrder, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.Ascending

/** The rows of one task, group after group, and in each group in the order in which they are to
  * be applied.
  *
  * The input brings equal hashes of the keys together and no more. A run of equal hashes is put
  * in order here: nearly always it is one group that is in order already.
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
  def apply(plan: KeepPlan, input: Seq[Attribute], rows: Iterator[InternalRow]): GroupedRows = {
    val unsafe = rows.asInstanceOf[Iterator[UnsafeRow]]
    if (plan.spec.runsInOneTask) new OneGroup(unsafe) else new HashedGroups(plan, input, unsafe)
  }
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
  private val hashOf = {
    val projection = UnsafeProjection.create(Seq(KeepPlan.hash(plan.keys)), input)
    (row: UnsafeRow) => projection(row).getLong(0)
  }
  private val keyThenArrival =
    RowOrdering.create(plan.keys.map(SortOrder(_, Ascending)) ++ plan.arrival, input)
  private val run = new SortedRun(keyThenArrival, input.size)

  private var ahead: UnsafeRow = _
  private var aheadHash = 0L
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
    if (rows.hasNext) {
      ahead = rows.next()
      aheadHash = hashOf(ahead)
    } else ahead = null

  private def readRun(): Unit =
    if (ahead != null) {
      val hash = aheadHash
      val first = keyOf(ahead).copy()
      var oneKey = true
      run.clear()
      while (ahead != null && aheadHash == hash) {
        if (oneKey && keyOf(ahead) != first) oneKey = false
        run.add(ahead)
        read()
      }
      run.sort(oneKey)
    }
}
