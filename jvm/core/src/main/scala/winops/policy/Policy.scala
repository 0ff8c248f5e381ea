package winops.policy

/** A retention policy: which rows of a stream are still remembered, and what is told of it.
  *
  * Every window of every dialect is a combination of six pieces: the group, and then for each
  * window admit, order, bound and triggers, and the stream. The machine knows nothing but them: a
  * named window is a line in a table, never a class.
  *
  * @param group
  *   which rows share one machine
  * @param retention
  *   one window, or several that rows have to stay in together
  * @param stream
  *   which changes are emitted, and in which order within a step
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

  /** The names of the windows, if there are several independent ones. */
  def windowNames: Seq[String] = retention match {
    case Retention.Independent(parts) => parts.map(_._1)
    case _ => Nil
  }

  /** How many of a group's newest rows its content is, if their number alone decides. */
  def newestRows: Option[Long] = retention match {
    case Retention.One(window) if group.reclaim.isEmpty && !usesTime => window.newestRows
    case _ => None
  }

  /** Returns true if each row enters when it arrives, and not at a later trigger. */
  def takesRowsAtOnce: Boolean = retention.windows.forall(_.triggers.enter == Trigger.EachRow)

  /** Whether it matters when a row arrived: for time, or for a condition that asks. */
  def needsArrivals: Boolean = usesTime || retention.windows.exists { window =>
    (window.bound, window.triggers.enter) match {
      case (_: Bound.Fails, _) | (_, _: Trigger.Holds) => true
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
      retention.windows.exists(_.triggers.leave == Trigger.Punctuation)
}
