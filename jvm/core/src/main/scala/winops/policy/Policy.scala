package winops.policy

/** A retention policy: which rows of a stream are still remembered, and what is told of it.
  *
  * Every window of every dialect is a combination of six pieces: the group, and then for each
  * window admit, order, bound and beats, and the stream. The machine knows nothing but them: a
  * named window is a line in a table, never a class.
  *
  * @param group
  *   which rows share one machine
  * @param retention
  *   one window, or several that rows have to stay in together
  * @param stream
  *   which changes are told, and in which order within a step
  * @param text
  *   the policy as its dialect writes it, parameters filled in, keywords in one spelling: what
  *   EXPLAIN shows
  * @param window
  *   the text without its group, which can be given elsewhere too: equal windows over equal
  *   groups mean equal policies, so this is what a checkpoint remembers
  * @param filter
  *   which rows the policy is about at all; the others never come to it
  * @param projection
  *   what is told of the rows, if not the rows themselves
  */
final case class Policy(
    group: Group,
    retention: Retention,
    stream: Stream,
    text: String,
    window: String,
    filter: Option[RowExpression] = None,
    projection: Option[Projection] = None) {

  /** The policy in one English sentence. */
  def describe: String = Description.of(this, None)

  /** The same of groups that are forgotten for a reason beside the policy, too. */
  def describeWith(reclaim: Option[Reclaim]): String = Description.of(this, reclaim)

  /** Whether rows leave or are reported because of time alone, so that the machine needs a clock.
    */
  def usesTime: Boolean = retention.windows.exists(_.usesTime) || group.reclaim.exists(_.usesTime)

  /** The names of the windows, if there are several that stand apart. */
  def windowNames: Seq[String] = retention match {
    case Retention.Apart(parts) => parts.map(_._1)
    case _ => Nil
  }

  /** How many of a group's newest rows its content is, if their number alone decides. */
  def newestRows: Option[Long] = retention match {
    case Retention.One(window) if group.reclaim.isEmpty && !usesTime => window.newestRows
    case _ => None
  }

  /** Whether each row comes in when it arrives, and not at a later beat. */
  def takesRowsAtOnce: Boolean = retention.windows.forall(_.beats.enter == Beat.EachRow)

  /** Whether it matters when a row arrived: for time, or for a condition that asks. */
  def needsArrivals: Boolean = usesTime || retention.windows.exists { window =>
    (window.bound, window.beats.enter) match {
      case (_: Bound.Fails, _) | (_, _: Beat.Holds) => true
      case _ => false
    }
  }

  /** A policy that gives the same changes over smaller groups, if there is one: a window that
    * holds one row for each key, beside windows that look at each row by itself, is a window for
    * each key. Values of the rows are those of the groups as they are.
    */
  def splitByKey: Policy = {
    val keys = retention.windows.flatMap(_.keyOfEachRow)
    val others = retention.windows.filter(_.keyOfEachRow.isEmpty)
    val splits = keys.size == 1 && others.forall(_.looksAtEachRow) && projection.isEmpty &&
      !couplesGroups
    retention.withinKey.filter(_ => splits).fold(this) { within =>
      copy(group = group.copy(keys = (group.keys ++ keys.head).distinct), retention = within)
    }
  }

  /** Whether what happens to one group depends on the others, if there are any, so that one task
    * has to run all of them, in the order of the rows.
    */
  def couplesGroups: Boolean =
    group.reclaim.exists(_.couplesGroups) || projection.exists(_.acrossGroups) ||
      retention.windows.exists(_.beats.leave == Beat.Punctuation)
}

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

  /** A row leaves when the first window lets it go. */
  final case class Intersection(windows: Seq[Window]) extends Retention {
    override private[policy] def withinKey: Option[Retention] =
      Some(Intersection(windows.map(_.withinKey)))
  }

  /** A row leaves when the last window lets it go. */
  final case class Union(windows: Seq[Window]) extends Retention

  /** Each part decides for itself, and tells of itself, over rows that are kept once.
    *
    * @param parts
    *   by the names under which they are told of; each takes every row as it comes, and its rows
    *   leave in that order
    */
  final case class Apart(parts: Seq[(String, Retention)]) extends Retention {
    override def windows: Seq[Window] = parts.flatMap(_._2.windows)
  }
}

/** One window: four of the six pieces. */
final case class Window(admit: Admit, order: Order, bound: Bound, beats: Beats) {
  def usesTime: Boolean = admit.usesTime || bound.usesTime || beats.usesTime

  /** The key of which the window holds one row each, if that is all it does. */
  private[policy] def keyOfEachRow: Option[Seq[RowExpression]] = this match {
    case Window(Admit.All, Order.Replacing(keys), Bound.Unbounded, _) => Some(keys)
    case Window(Admit.FirstOfEach(keys), Order.Arrival, Bound.Unbounded, _) => Some(keys)
    case _ => None
  }

  /** Whether the window lets go of a row for reasons that are the row's alone. */
  private[policy] def looksAtEachRow: Boolean = this match {
    case Window(Admit.All, Order.Arrival, bound, _) =>
      bound match {
        case Bound.Unbounded | _: Bound.AgeReached | _: Bound.DeadlineReached => true
        case _ => false
      }
    case _ => false
  }

  /** How many of the newest rows the window holds, if their number alone decides. */
  private[policy] def newestRows: Option[Long] = this match {
    case Window(Admit.All, Order.Arrival, Bound.MoreThan(rows), Beats(Beat.EachRow, leave, _)) =>
      leave match {
        case Beat.EachRow | Beat.Excess(1L) => Some(rows)
        case _ => None
      }
    case _ => None
  }

  /** The window over the rows of one key. */
  private[policy] def withinKey: Window = this match {
    case Window(Admit.All, Order.Replacing(_), Bound.Unbounded, _) =>
      Window(
        Admit.All,
        Order.Arrival,
        Bound.MoreThan(1L),
        Beats(Beat.EachRow, Beat.Excess(1L), Beat.Never))
    case Window(_: Admit.FirstOfEach, _, _, _) => copy(admit = Admit.First(1L))
    case _ => this
  }
}
