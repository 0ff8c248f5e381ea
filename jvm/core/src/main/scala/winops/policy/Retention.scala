package winops.policy

/** The windows of a policy, and how they decide over a row. */
sealed trait Retention {
  def windows: Seq[Window]

  /** The same over the rows of one key, if a key that a window holds one row of may become a
    * group's.
    */
  private[policy] def withinKey: Option[Retention] = None
}

object Retention {

  /** One window decides alone. */
  final case class One(window: Window) extends Retention {
    override def windows: Seq[Window] = Seq(window)
    override private[policy] def withinKey: Option[Retention] = Some(One(window.withinKey))
  }

  /** A row leaves when the first window evicts it. */
  final case class Intersection(windows: Seq[Window]) extends Retention {
    override private[policy] def withinKey: Option[Retention] =
      Some(Intersection(windows.map(_.withinKey)))
  }

  /** A row leaves when the last window evicts it. */
  final case class Union(windows: Seq[Window]) extends Retention

  /** Independent windows over rows that are stored once: each emits its own changes.
    *
    * @param parts
    *   by the names of the windows; each admits every row as it arrives, and its rows leave in that order
    */
  final case class Independent(parts: Seq[(String, Retention)]) extends Retention {
    override def windows: Seq[Window] = parts.flatMap(_._2.windows)
  }
}
