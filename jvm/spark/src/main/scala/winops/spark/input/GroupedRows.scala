package winops.spark.input

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}

import winops.spark.plan.OperatorPlan
import winops.spark.row.KeyHash

/** Iterates over the rows of one task, group after group, and over each group in the order in
  * which its rows are applied.
  *
  * Implementations sort each run of rows whose keys have equal hashes. Nearly always the run is
  * one group and already in order.
  */
trait GroupedRows {

  /** Moves to the next group, whose rows [[next]] then returns; returns false if there is none.
    */
  def nextGroup(): Boolean

  /** The key of the group; valid until the next call of [[nextGroup]]. */
  def key: UnsafeRow

  def hasNext: Boolean

  /** The next row of the group; valid until the next call of any method. */
  def next(): UnsafeRow
}

object GroupedRows {

  /** No group and no row. */
  object Empty extends GroupedRows {
    override def nextGroup(): Boolean = false
    override def key: UnsafeRow = throw new NoSuchElementException
    override def hasNext: Boolean = false
    override def next(): UnsafeRow = throw new NoSuchElementException
  }

  /** The groups of the current task.
    *
    * @param rows
    *   the task's input rows, in the plan's input order
    */
  def ofTask(
      plan: OperatorPlan,
      input: Seq[Attribute],
      rows: Iterator[InternalRow]): GroupedRows = {
    val unsafe = rows.asInstanceOf[Iterator[UnsafeRow]]
    if (plan.spec.runsInOneTask) new OneGroup(unsafe) else grouped(plan, input, unsafe)
  }

  /** The groups of rows that are grouped by hash already.
    *
    * @param rows
    *   sorted if all rows are one group, otherwise with rows of equal [[KeyHash]] together
    */
  def apply(plan: OperatorPlan, input: Seq[Attribute], rows: Iterator[UnsafeRow]): GroupedRows =
    if (plan.spec.runsInOneTask) new OneGroup(rows) else new HashedGroups(plan, input, rows)

  /** Buffers the rows in memory. If the rows do not fit, Spark's sorters sort and spill them.
    *
    * A sorter stores rows in the order in which it gets them, and reads them in the order of
    * their hashes. It gets them in runs of some megabytes that are grouped already: so the rows
    * of a group lie one after the other in memory, and the processor fetches them ahead.
    */
  private def grouped(
      plan: OperatorPlan,
      input: Seq[Attribute],
      rows: Iterator[UnsafeRow]): GroupedRows = {
    val hashOf = KeyHash(plan.keys, input)

    def byGroup(buffer: PartitionedRowBuffer): Iterator[UnsafeRow] = buffer.takeOut { parts =>
      val groups = new GroupsInMemory(plan, input, parts, sorts = false)
      Iterator
        .continually(groups.hasNext || groups.nextGroup())
        .takeWhile(identity)
        .map(_ => groups.next())
    }

    def nextRun(): Iterator[UnsafeRow] = {
      val buffer = new PartitionedRowBuffer()
      val left = fill(buffer, rows, hashOf, MaxBytesOfRun)
      // Without memory for a run worth its costs, the sorter gets rows as they come.
      val ungrouped = if (buffer.isPartitioned) 0 else RowsWithoutRun
      byGroup(buffer) ++ left ++
        Iterator.range(0, ungrouped).takeWhile(_ => rows.hasNext).map(_ => rows.next())
    }

    val newest = plan.spec.newestRows.map(new NewestRows(plan, input, _))
    val buffer = new PartitionedRowBuffer(newest)
    val left = fill(buffer, rows, hashOf, Long.MaxValue)
    if (left.isEmpty) new GroupsInMemory(plan, input, buffer.all)
    else {
      val runs = Iterator.continually(()).takeWhile(_ => rows.hasNext).flatMap(_ => nextRun())
      val all = byGroup(buffer) ++ left ++ runs
      new HashedGroups(plan, input, new SpillableHashSorter(all, hashOf, input.size))
    }
  }

  /** Adds rows until the buffer has `maxBytes`. Returns the row for which there is no memory. */
  private def fill(
      buffer: PartitionedRowBuffer,
      rows: Iterator[UnsafeRow],
      hashOf: UnsafeRow => Long,
      maxBytes: Long): Option[UnsafeRow] = {
    var left: UnsafeRow = null
    while (left == null && buffer.bytes < maxBytes && rows.hasNext) {
      val row = rows.next()
      if (!buffer.add(row, hashOf(row))) left = row
    }
    Option(left)
  }

  private val MaxBytesOfRun = 32L << 20
  private val RowsWithoutRun = 1 << 18
}

/** Treats all rows of the task as one group. The input is sorted. */
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

/** Reads groups from rows that are clustered by hash. */
private final class HashedGroups(
    plan: OperatorPlan,
    input: Seq[Attribute],
    rows: Iterator[UnsafeRow])
    extends GroupedRows {
  private val sameKeys = new SameKeys(plan.keys, input)
  private val hashOf = KeyHash(plan.keys, input)
  private val run = new RunGroups(plan, input)

  private var ahead: UnsafeRow = _

  read()

  override def key: UnsafeRow = run.key
  override def hasNext: Boolean = run.hasNext
  override def next(): UnsafeRow = run.next()

  override def nextGroup(): Boolean = run.nextGroup() || {
    readRun()
    run.nextGroup()
  }

  private def read(): Unit =
    ahead = if (rows.hasNext) rows.next() else null

  private def readRun(): Unit = {
    run.clear()
    if (ahead != null) {
      val hash = hashOf(ahead)
      val first = ahead.copy()
      var oneKey = true
      var more = true
      while (more) {
        run.add(ahead)
        read()
        more = ahead != null && {
          val isFirst = sameKeys(ahead, first)
          val isInRun = isFirst || hashOf(ahead) == hash
          if (isInRun && !isFirst) oneKey = false
          isInRun
        }
      }
      run.close(oneKey)
    }
  }
}
