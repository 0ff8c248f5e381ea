package winops.spark.execution

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}

import winops.spark.input.{NewestRows, PartitionedRowBuffer}
import winops.spark.plan.OperatorPlan
import winops.spark.row.KeyHash

/** Passes on the rows of a task that are among the newest `count` rows of their group in the
  * task.
  *
  * When memory runs out, the rows that are left are emitted and a new buffer begins. If these
  * were three quarters of the rows read, or more, all further rows are passed on unfiltered.
  *
  * @param count
  *   number of newest rows per group
  */
final class NewestRowsOfTask(
    plan: OperatorPlan,
    input: Seq[Attribute],
    count: Int,
    rows: Iterator[UnsafeRow])
    extends Iterator[UnsafeRow] {
  private val hashOf = KeyHash(plan.keys, input)
  private val newest = new NewestRows(plan, input, count)
  private var chosen: Iterator[UnsafeRow] = Iterator.empty
  private var ahead: UnsafeRow = _
  private var gains = true

  override def hasNext: Boolean = {
    while (!chosen.hasNext && (ahead != null || rows.hasNext)) chosen = choose()
    chosen.hasNext
  }

  override def next(): UnsafeRow =
    if (hasNext) chosen.next() else throw new NoSuchElementException

  private def choose(): Iterator[UnsafeRow] = if (gains) newestOfNext() else rows

  /** The newest of as many rows as fit into memory. */
  private def newestOfNext(): Iterator[UnsafeRow] = {
    val buffer = new PartitionedRowBuffer(Some(newest))
    var read = 0L
    var fits = true
    while (fits && (ahead != null || rows.hasNext)) {
      if (ahead == null) ahead = rows.next()
      fits = buffer.add(ahead, hashOf(ahead))
      if (fits) {
        ahead = null
        read += 1
      }
    }
    if (ahead == null) buffer.takeOut(input.size)
    else {
      gains = buffer.size < read / 4 * 3
      val one = ahead
      ahead = null
      buffer.takeOut(input.size) ++ Iterator.single(one)
    }
  }
}
