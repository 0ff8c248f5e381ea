package winops.policy

import winops.terms.Span
import winops.terms.Wording._
import winops.window.piece._

/** Describes in one English sentence which rows a policy keeps. The sentence leaves out the order
  * of the changes within a step, because that order does not decide which rows stay.
  */
private[policy] object PolicyDescriber {
  def of(policy: Policy, reclaim: Option[Reclaim]): String = {
    val filter =
      policy.filter.map(condition => s"of the rows for which ${shown(condition)} holds")
    val group = Option.when(policy.group.keys.nonEmpty)(s"for each ${listed(policy.group.keys)}")
    val clauses =
      retained(policy.retention) ++ keyed(policy) ++ policy.projection.map(Computation.of) ++
        emitted(policy) ++ (policy.group.reclaim ++ reclaim).map(removed)
    val sentence = (filter ++ group ++ Seq(clauses.mkString("; "))).mkString(", ")
    s"${sentence.head.toUpper}${sentence.tail}."
  }

  /** The pieces of a policy, each with its name, in the words of the sentence. */
  def pieces(policy: Policy): Seq[(String, String)] = {
    val keys = policy.group.keys
    val group =
      if (keys.isEmpty) "one window for all rows" else s"a window for each ${listed(keys)}"
    val windows = policy.retention.windows
    val each = windows.zipWithIndex.flatMap { case (window, index) =>
      val prefix = if (windows.size == 1) "" else s"window ${index + 1}, "
      ofWindow(window).map { case (name, text) => (prefix + name, text) }
    }
    policy.filter
      .map(condition => ("filter", s"rows for which ${shown(condition)} holds"))
      .toSeq ++
      Seq(("group", group)) ++ each ++
      policy.projection.map(one => ("values", Computation.of(one))) ++
      Seq(("changes", emitted(policy).getOrElse("emits inserts and deletes"))) ++
      policy.group.reclaim.map(rule => ("groups", removed(rule)))
  }

  private def ofWindow(window: Window): Seq[(String, String)] = {
    val Triggers(enter, leave, report) = window.triggers
    val bound = window.bound.until match {
      case Seq() => "no bound: every row that enters stays"
      case some => s"a row stays until ${some.mkString(" or ")}"
    }
    Seq(
      "admits" -> window.admit.words,
      "order" -> window.order.words,
      "bound" -> bound,
      "rows enter" -> enter.words,
      "rows leave" -> window.bound.wordsOf(leave)) ++
      Option.when(report != Never)("reports" -> report.words)
  }

  private def keyed(policy: Policy): Seq[String] =
    Option
      .when(policy.isKeyed) {
        s"holds one row of each ${listed(policy.key)}, which later rows update or delete"
      }
      .toSeq ++ Option.when(policy.buffer > 0) {
      s"stores the next ${several(policy.buffer)} behind the window, for when it has room"
    }

  private def retained(retention: Retention): Seq[String] = retention match {
    case Retention.One(window) => clauses(window)
    case Retention.Intersection(windows) =>
      Seq(s"keeps each row until one of these windows evicts it: ${numbered(windows)}")
    case Retention.Union(windows) =>
      Seq(s"keeps each row until all of these windows have evicted it: ${numbered(windows)}")
    case Retention.Independent(parts) =>
      parts.map { case (name, part) => s"window $name ${retained(part).mkString(", ")}" }
  }

  private def numbered(windows: Seq[Window]): String = {
    val items = windows.zipWithIndex.map { case (window, index) =>
      s"(${index + 1}) ${clauses(window).mkString(", ")}"
    }
    items.mkString("; ")
  }

  /** The rows that a window holds, and what happens to others. */
  private def clauses(window: Window): Seq[String] = {
    val Window(admit, order, bound, triggers) = window
    val scanned = bound.whileEvicting.map { condition =>
      s"when a row arrives, evicts rows from the oldest on while $condition"
    }
    val admitted = if (bound == Unbounded && order == Arrival) None else admit.clause
    val reported = Option.when(triggers.report != Never) {
      s"reports the window contents ${triggers.report.wordsOfReport}"
    }
    Seq(bound.keeps(admit, order, triggers.leave)) ++ scanned ++ order.clause(
      bound) ++ admitted ++
      bound.moves(triggers, order) ++ reported
  }

  private def emitted(policy: Policy): Option[String] = {
    val (inserts, deletes) = policy.projection match {
      case None => ("inserts", "deletes")
      case Some(_) => ("the values after a change", "the values before a change")
    }
    (policy.stream.inserts, policy.stream.deletes) match {
      case (true, true) => None
      case (true, false) => Some(s"emits only $inserts")
      case (false, true) => Some(s"emits only $deletes")
      case (false, false) => Some("emits no changes")
    }
  }

  private def removed(reclaim: Reclaim): String = reclaim match {
    case Reclaim.Silent(micros) =>
      s"removes a group that has no new row for ${length(Span.ofMicros(micros))}, and deletes " +
        "its rows"
    case Reclaim.MoreGroupsThan(groups) =>
      s"while the number of groups is above $groups, removes the group that has been " +
        "without a new row for longest, and deletes its rows"
    case Reclaim.MoreRowsThan(rows) =>
      s"while all groups together hold more than ${counted(rows, "row")}, removes the group " +
        "that has been without a new row for longest, and deletes its rows"
    case Reclaim.SweptAtArrival(millis, everyMillis) =>
      s"when a row arrives, but at most once every ${period(Span.ofMillis(everyMillis))}, " +
        s"removes the groups that have no new row for more than ${length(Span.ofMillis(millis))}" +
        ", and emits no deletes for their rows"
  }
}
