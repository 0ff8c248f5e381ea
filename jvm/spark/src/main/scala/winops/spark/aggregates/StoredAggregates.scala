package winops.spark.aggregates

import winops.aggregation.{FrontSummary, Summaries, TreeSummary, WindowSummary}
import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter}

/** Aggregates of one window that another query has stored, without their functions. Finds their
  * pages and entries, to remove them.
  *
  * @param pages
  *   the storage of the aggregates
  * @param leavesFromFront
  *   true if [[GroupAggregates]] stores them for rows that are evicted in the order of their
  *   insertion, undivided
  * @param distinct
  *   the number of functions that count distinct values
  * @param arrivals
  *   the number of times that values of the newest row are stored
  */
private[spark] final class StoredAggregates(
    pages: Pages,
    leavesFromFront: Boolean,
    distinct: Int,
    arrivals: Int) {
  import StoredAggregates._

  // The order in which GroupAggregates creates the maps.
  private val tree = new TreeSummary[AnyRef](Unknown, pages.newMap())
  private val summary: WindowSummary[AnyRef] =
    if (leavesFromFront) new FrontSummary[AnyRef](Unknown, pages) else tree
  private val counts = Seq.fill(distinct)(pages.newMap())

  /** The stored values of the newest row. */
  var newest: Seq[Array[Byte]] = Nil

  def restore(in: ByteReader): Unit = {
    summary.restore(in)
    counts.foreach(_.restore(in))
    newest = Seq.fill(arrivals)(in.block())
  }

  /** Empties the aggregates and frees their pages. */
  def clear(): Unit = {
    summary.clear()
    counts.foreach(_.clear())
  }
}

private object StoredAggregates {

  /** Summaries that are not read. */
  private object Unknown extends Summaries[AnyRef] {
    override def create(): AnyRef = this
    override def clear(summary: AnyRef): Unit = ()
    override def add(summary: AnyRef, row: Long): Unit = unknown()
    override def append(summary: AnyRef, behind: AnyRef): Unit = unknown()
    override def write(summary: AnyRef, out: ByteWriter): Unit = unknown()
    override def read(summary: AnyRef, in: ByteReader): Unit = ()

    private def unknown(): Nothing = throw new UnsupportedOperationException
  }
}
