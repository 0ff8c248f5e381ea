package winops.spark.input

import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, RowOrdering, SortOrder, UnsafeProjection, UnsafeRow}

import winops.spark.plan.OperatorPlan

/** Reads the groups of a run of rows whose keys have equal hashes. Nearly always the run is one
  * group.
  */
private[spark] final class RunGroups(plan: OperatorPlan, input: Seq[Attribute])
    extends GroupedRows {
  private val keyOf = UnsafeProjection.create(plan.keys, input)
  private val keyThenArrival =
    RowOrdering.create(plan.keys.map(SortOrder(_, Ascending)) ++ plan.arrival, input)
  private val run = new SortedRun(keyThenArrival, input.size)

  private var currentKey: UnsafeRow = _
  private var peeked: UnsafeRow = _

  /** Begins a new run. */
  def clear(): Unit = {
    run.clear()
    currentKey = null
    peeked = null
  }

  def add(row: UnsafeRow): Unit = run.add(row)

  /** Ends the run; its groups can be read afterwards. `oneKey` is true if all rows have one key.
    */
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
