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

  /** Whether what happens to one group depends on the others, so that one task has to run all of
    * them, in the order of the rows.
    */
  def couplesGroups: Boolean =
    group.keys.nonEmpty &&
      (group.reclaim.exists(_.couplesGroups) ||
        retention.windows.exists(_.beats.leave == Beat.Punctuation))
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
