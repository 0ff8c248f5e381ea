package winops.spark.execution

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}

import winops.spark.input.{NewestRows, PartitionedRowBuffer}
import winops.spark.plan.KeepPlan
import winops.spark.row.KeyHash

/** The rows of a task without those that are not among the newest `count` of their group there.
  *
  * When there is no more memory, what is left is given, and others begin; where that was most of
  * the rows, all others are given as they come.
  */
final class NewestRowsOfTask(
    plan: KeepPlan,
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

  /** Of as many rows as there is memory for. */
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
