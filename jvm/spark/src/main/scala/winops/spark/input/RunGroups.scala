package winops.spark.input

import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, RowOrdering, SortOrder, UnsafeProjection, UnsafeRow}

import winops.spark.plan.KeepPlan

/** The groups of a run of rows whose keys have equal hashes: nearly always it is one. */
private[spark] final class RunGroups(plan: KeepPlan, input: Seq[Attribute]) extends GroupedRows {
  private val keyOf = UnsafeProjection.create(plan.keys, input)
  private val keyThenArrival =
    RowOrdering.create(plan.keys.map(SortOrder(_, Ascending)) ++ plan.arrival, input)
  private val run = new SortedRun(keyThenArrival, input.size)

  private var currentKey: UnsafeRow = _
  private var peeked: UnsafeRow = _

  /** Begins another run. */
  def clear(): Unit = {
    run.clear()
    currentKey = null
    peeked = null
  }

  def add(row: UnsafeRow): Unit = run.add(row)

  /** Ends the run, after which its groups can be read. */
  def close(oneKey: Boolean): Unit = run.sort(oneKey)

  override def key: UnsafeRow = currentKey

  override def nextGroup(): Boolean = {
    while (hasNext) next()
    val more = peek() != null
    if (more) currentKey = keyOf(peek()).copy()
    more
  }

  override def hasNext: Boolean =
    currentKey != null && peek() != null && (run.isOneKey || keyOf(peeked) == currentKey)

  override def next(): UnsafeRow = {
    val row = peek()
    peeked = null
    row
  }

  private def peek(): UnsafeRow = {
    if (peeked == null) peeked = run.next()
    peeked
  }
}
