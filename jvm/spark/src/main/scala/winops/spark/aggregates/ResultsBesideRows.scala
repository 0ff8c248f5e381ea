package winops.spark.aggregates

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import winops.spark.expressions.OfWindow

/** Evaluates the aggregates of one or several windows for a row.
  *
  * @param windows
  *   the contents of each window, by the number of the window
  * @param results
  *   the results in the order of the output, each an [[OfWindow]] if there are several windows
  */
private[spark] final class ResultsBesideRows(
    windows: Seq[GroupAggregates],
    results: Seq[Expression]) {
  private val each = windows.toArray
  private val joined = Array.fill(each.length)(new JoinedRow)

  /** Sorts the results of all windows into the order of the output. */
  private val inOrder = {
    val places = results.zipWithIndex.sortBy { case (result, _) => windowOf(result) }.map(_._2)
    UnsafeProjection.create(results.zipWithIndex.map { case (result, i) =>
      BoundReference(places.indexOf(i), result.dataType, nullable = true)
    })
  }

  /** Returns the results for a row that is in the windows or was evicted by this step. The
    * returned row is valid until the next call.
    */
  def beside(ordinal: Long): UnsafeRow =
    if (each.length == 1) each(0).beside(ordinal)
    else {
      var all: InternalRow = InternalRow.empty
      var i = 0
      while (i < each.length) {
        all = joined(i)(all, each(i).beside(ordinal))
        i += 1
      }
      inOrder(all)
    }

  /** Returns the results, which do not depend on a row. The returned row is valid until the next
    * call.
    */
  def now: UnsafeRow = beside(0L)

  private def windowOf(result: Expression): Int = result match {
    case OfWindow(window, _) => window
    case _ => 0
  }
}
