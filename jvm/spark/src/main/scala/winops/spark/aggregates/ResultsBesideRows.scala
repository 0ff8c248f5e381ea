package winops.spark.aggregates

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import winops.spark.expressions.OfWindow

/** What the contents of one or several windows are worth, beside a row.
  *
  * @param windows
  *   the content of each window, by its number
  * @param asked
  *   all results in the order in which they are given, each [[OfWindow]] if there are several
  */
private[spark] final class ResultsBesideRows(
    windows: Seq[ContentResults],
    asked: Seq[Expression]) {
  private val each = windows.toArray
  private val joined = Array.fill(each.length)(new JoinedRow)

  /** Out of the results of one window after the other. */
  private val inOrder = {
    val places = asked.zipWithIndex.sortBy { case (result, _) => windowOf(result) }.map(_._2)
    UnsafeProjection.create(asked.zipWithIndex.map { case (result, i) =>
      BoundReference(places.indexOf(i), result.dataType, nullable = true)
    })
  }

  /** The results beside a row, which is in the windows or has left them just now; valid until the
    * next call.
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

  private def windowOf(result: Expression): Int = result match {
    case OfWindow(window, _) => window
    case _ => 0
  }
}
