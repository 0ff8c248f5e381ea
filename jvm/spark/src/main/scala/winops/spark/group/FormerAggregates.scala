package winops.spark.group

import winops.spark.aggregates.StoredAggregates
import winops.spark.state.RebuiltState
import winops.storage.btree.Pages
import winops.storage.bytes.ByteReader

/** The aggregates that another query has stored with the open group, which a restart removes. */
private[group] final class FormerAggregates(rebuilt: RebuiltState, storage: GroupStorage) {
  private val pages = storage.pages.another()
  private val ofWindows = rebuilt.aggregates.toSeq.flatMap { form =>
    form.distinct.zip(form.arrivals).map { case (distinct, arrivals) =>
      new StoredAggregates(pages, form.leavesFromFront && !form.isDivided, distinct, arrivals)
    }
  }

  /** Restores the aggregates, whose pages are among those of the group. */
  def restore(in: ByteReader, ofGroup: Pages): Unit = {
    pages.startAs(ofGroup)
    ofWindows.foreach(_.restore(in))
  }

  /** Removes the pages. New aggregates may have entries with the numbers of the removed ones. */
  def remove(): Unit = {
    ofWindows.foreach(_.clear())
    pages.settle()
  }

  /** The stored values of the newest row of a window; none if there are none. */
  def newest(window: Int): Seq[Array[Byte]] =
    ofWindows.lift(window).fold(Seq.empty[Array[Byte]])(_.newest)
}
