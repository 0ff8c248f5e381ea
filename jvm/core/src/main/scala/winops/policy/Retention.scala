package winops.policy

import winops.window.piece.EveryRow

/** The windows of a policy and the rule that combines them. */
sealed trait Retention {
  def windows: Seq[Window]

  /** Returns true if rows may leave in any order. */
  def leavesHoles: Boolean

  /** The same retention over the rows of one key, for a window that holds one row of each key.
    * None if the key of such a window cannot become a group key.
    */
  private[policy] def withinKey: Option[Retention] = None
}

object Retention {

  /** One window decides alone. */
  final case class One(window: Window) extends Retention {
    override def windows: Seq[Window] = Seq(window)
    override def leavesHoles: Boolean = !window.evictsOldestFirst
    override private[policy] def withinKey: Option[Retention] = Some(One(window.withinKey))
  }

  /** A row leaves when the first window evicts it. */
  final case class Intersection(windows: Seq[Window]) extends Retention {
    // A row that one window evicts for itself alone, or as one of a batch, leaves between rows that
    // others hold.
    override def leavesHoles: Boolean =
      !windows.forall(window => window.evictsOldestFirst && window.bound.evictsFromAll)

    override private[policy] def withinKey: Option[Retention] =
      Some(Intersection(windows.map(_.withinKey)))
  }

  /** A row leaves when the last window evicts it. */
  final case class Union(windows: Seq[Window]) extends Retention {
    // A row that one window did not admit may leave before rows that this window holds.
    override def leavesHoles: Boolean =
      !windows.forall(window => window.evictsOldestFirst && window.admit == EveryRow)
  }

  /** Independent windows over rows that are stored once. Each window emits its own changes.
    *
    * @param parts
    *   retentions by window name; each admits every row when it arrives, and its rows leave in
    *   the order of their arrival
    */
  final case class Independent(parts: Seq[(String, Retention)]) extends Retention {
    override def windows: Seq[Window] = parts.flatMap(_._2.windows)
    override def leavesHoles: Boolean = parts.exists(_._2.leavesHoles)
  }
}
