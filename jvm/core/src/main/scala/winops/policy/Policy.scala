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
  */
final case class Policy(
    group: Group,
    retention: Retention,
    stream: Stream,
    text: String,
    window: String,
    filter: Option[RowExpression] = None) {

  /** The policy in one English sentence. */
  def describe: String = Description.of(this)

  /** Whether rows leave or are reported because of time alone, so that the machine needs a clock.
    */
  def usesTime: Boolean = retention.windows.exists(_.usesTime) || group.reclaim.exists(_.usesTime)

  /** Whether it matters when a row arrived: for time, or for a condition that asks. */
  def needsArrivals: Boolean = usesTime || retention.windows.exists { window =>
    (window.bound, window.beats.enter) match {
      case (_: Bound.Fails, _) | (_, _: Beat.Holds) => true
      case _ => false
    }
  }

  /** A policy that gives the same changes over smaller groups, if there is one: a window that holds
    * one row for each key, beside windows that look at each row by itself, is a window for each
    * key.
    */
  def splitByKey: Policy = {
    def isOfRow(window: Window): Boolean = window match {
      case Window(Admit.All, Order.Arrival, bound, _) =>
        bound match {
          case Bound.Unbounded | _: Bound.AgeReached | _: Bound.DeadlineReached => true
          case _ => false
        }
      case _ => false
    }
    def split(keys: Seq[RowExpression], windows: Seq[Window]): Policy = copy(
      group = group.copy(keys = (group.keys ++ keys).distinct),
      retention = windows match {
        case Seq(window) => Retention.One(window)
        case several => Retention.Intersection(several)
      })
    val one = Beats(Beat.EachRow, Beat.Excess(1L), Beat.Never)
    val splits = retention match {
      case _: Retention.Union => None
      case _ =>
        retention.windows.partition(!isOfRow(_)) match {
          case (Seq(Window(Admit.All, Order.Replacing(keys), Bound.Unbounded, _)), others) =>
            val newest = Window(Admit.All, Order.Arrival, Bound.MoreThan(1L), one)
            Some(split(keys, newest +: others))
          case (Seq(Window(Admit.FirstOfEach(keys), Order.Arrival, Bound.Unbounded, beats)), others) =>
            Some(split(keys, Window(Admit.First(1L), Order.Arrival, Bound.Unbounded, beats) +: others))
          case _ => None
        }
    }
    if (couplesGroups) this else splits.getOrElse(this)
  }

  /** Whether what happens to one group depends on the others, if there are any, so that one task has to run all of
    * them, in the order of the rows.
    */
  def couplesGroups: Boolean =
    group.reclaim.exists(_.couplesGroups) ||
      retention.windows.exists(_.beats.leave == Beat.Punctuation)
}

/** The windows that decide over a row together. */
sealed trait Retention {
  def windows: Seq[Window]
}

object Retention {

  /** One window decides alone. */
  final case class One(window: Window) extends Retention {
    override def windows: Seq[Window] = Seq(window)
  }

  /** A row leaves when the first window lets it go. */
  final case class Intersection(windows: Seq[Window]) extends Retention

  /** A row leaves when the last window lets it go. */
  final case class Union(windows: Seq[Window]) extends Retention
}

/** One window: four of the six pieces. */
final case class Window(admit: Admit, order: Order, bound: Bound, beats: Beats) {
  def usesTime: Boolean = admit.usesTime || bound.usesTime || beats.usesTime
}
