package winops.spark.input

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}

import winops.spark.plan.KeepPlan
import winops.spark.row.KeyHash

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
    if (plan.spec.runsInOneTask) new OneGroup(unsafe) else grouped(plan, input, unsafe)
  }

  /** @param rows
    *   in order if all are one group, else with those of equal [[KeyHash]] together
    */
  def apply(plan: KeepPlan, input: Seq[Attribute], rows: Iterator[UnsafeRow]): GroupedRows =
    if (plan.spec.runsInOneTask) new OneGroup(rows) else new HashedGroups(plan, input, rows)

  /** Rows that do not fit into memory are sorted, and spilled, by Spark's sorters. */
  private def grouped(
      plan: KeepPlan,
      input: Seq[Attribute],
      rows: Iterator[UnsafeRow]): GroupedRows = {
    val hashOf = KeyHash(plan.keys, input)
    val newest = plan.spec.newestRows.map(new NewestRows(plan, input, _))
    val buffer = new PartitionedRowBuffer(newest)
    var left: UnsafeRow = null
    while (left == null && rows.hasNext) {
      val row = rows.next()
      if (!buffer.add(row, hashOf(row))) left = row
    }
    if (left == null) new GroupsInMemory(plan, input, buffer.all)
    else {
      val all = buffer.takeOut(input.size) ++ Iterator.single(left) ++ rows
      new HashedGroups(plan, input, new SpillableHashSorter(all, hashOf, input.size))
    }
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

/** Groups of rows that come with those of equal hashes together. */
private final class HashedGroups(plan: KeepPlan, input: Seq[Attribute], rows: Iterator[UnsafeRow])
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
