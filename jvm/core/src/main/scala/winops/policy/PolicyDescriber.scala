package winops.policy

import winops.policy.Wording._

/** Describes in one English sentence which rows a policy keeps. The sentence leaves out the order
  * of the changes within a step, because that order does not decide which rows stay.
  */
private[policy] object PolicyDescriber {
  def of(policy: Policy, reclaim: Option[Reclaim]): String = {
    val filter =
      policy.filter.map(condition => s"of the rows for which ${shown(condition)} holds")
    val group = Option.when(policy.group.keys.nonEmpty)(s"for each ${listed(policy.group.keys)}")
    val clauses =
      retained(policy.retention) ++ policy.projection.map(Computation.of) ++ emitted(policy) ++
        (policy.group.reclaim ++ reclaim).map(removed)
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
    val order = window.order match {
      case Order.Arrival => "the order of arrival"
      case Order.Sorted(by) => s"sorted by ${criteria(by)}"
      case Order.Replacing(keys) => replacesPrevious(keys)
      case Order.Ranked(keys, by) => s"sorted by ${criteria(by)}; ${replacesPrevious(keys)}"
      case Order.Shadowing(keys) => s"of each ${listed(keys)} only the newest row is visible"
    }
    val bound = reasons(window.bound) match {
      case Seq() => "no bound: every row that enters stays"
      case some => s"a row stays until ${some.mkString(" or ")}"
    }
    Seq(
      "admits" -> admitted(window.admit),
      "order" -> order,
      "bound" -> bound,
      "rows enter" -> when(enter),
      "rows leave" -> when(leave)) ++
      Option.when(report != Trigger.Never)("reports" -> when(report))
  }

  private def retained(retention: Retention): Seq[String] = retention match {
    case Retention.One(window) => kept(window) +: remarks(window)
    case Retention.Intersection(windows) =>
      Seq(s"keeps each row until one of these windows evicts it: ${numbered(windows)}")
    case Retention.Union(windows) =>
      Seq(s"keeps each row until all of these windows have evicted it: ${numbered(windows)}")
    case Retention.Independent(parts) =>
      parts.map { case (name, part) => s"window $name ${retained(part).mkString(", ")}" }
  }

  private def numbered(windows: Seq[Window]): String = {
    val items = windows.zipWithIndex.map { case (window, index) =>
      s"(${index + 1}) ${(kept(window) +: remarks(window)).mkString(", ")}"
    }
    items.mkString("; ")
  }

  /** The rows that a window holds. */
  private def kept(window: Window): String = window match {
    case Window(admit, Order.Arrival, Bound.Unbounded, _) => s"keeps ${admitted(admit)}"
    case Window(_, Order.Replacing(keys), Bound.Unbounded, _) =>
      s"keeps the newest row of each ${listed(keys)}"
    case Window(_, Order.Arrival, Bound.MoreThan(1), Triggers(_, Trigger.Excess(rows), _))
        if rows > 1 =>
      s"collects up to $rows rows"
    case Window(_, order, Bound.Everything, Triggers(_, leave, _)) =>
      s"collects rows${sorted(order, window.bound)} and removes all of them " +
        whenCollected(leave)
    case Window(_, order, Bound.PreviousBatch, _) =>
      s"collects rows in a batch${sorted(order, window.bound)}"
    case Window(_, order, bound, _) => s"keeps ${held(bound, order)}${sorted(order, bound)}"
  }

  private def admitted(admit: Admit): String = admit match {
    case Admit.All => "every row"
    case Admit.First(rows) => s"the first ${several(rows)}"
    case Admit.FirstFor(span, origin) => s"the rows that ${arriveWithin(span, origin)}"
    case Admit.FirstOfEach(keys) => s"the first row of each ${listed(keys)}"
  }

  private def arriveWithin(span: Span, origin: Origin): String = {
    val start = origin match {
      case Origin.FirstRow => "the first row"
      case Origin.At(millis) => instant(millis)
    }
    s"arrive less than ${length(span)} after $start"
  }

  private def held(bound: Bound, order: Order): String = bound match {
    case Bound.MoreThan(rows) => s"the ${best(order)} ${several(rows)}"
    case Bound.AgeReached(span) => s"each row for ${length(span)}"
    case _ if failing(bound).isDefined => "rows"
    case _ =>
      reasons(bound) match {
        case Seq() => "every row"
        case some => s"each row until ${some.mkString(" or ")}"
      }
  }

  /** The reasons for which a bound evicts a row. In these clauses "it" and "its" stand for the
    * row.
    */
  private def reasons(bound: Bound): Seq[String] = bound match {
    case Bound.Unbounded => Seq.empty
    case Bound.MoreThan(1) => Seq("a newer row has arrived")
    case Bound.MoreThan(rows) => Seq(s"$rows newer rows have arrived")
    case Bound.AgeReached(span) => Seq(s"it is ${length(span)} old")
    case Bound.AgeExceeded(span) => Seq(s"it is more than ${length(span)} old")
    case Bound.TimestampBehind(timestamp, span) => Seq(s"its ${behind(timestamp, span)}")
    case Bound.ValueBehind(value, distance) => Seq(s"its ${below(value, distance)}")
    case Bound.DeadlineReached(timestamp, span) =>
      val after = if (span.isEmpty) "" else s"${length(span)} after "
      val deadline = timestamp match {
        case column: RowExpression.Column => s"its ${shown(column)} column"
        case computed: RowExpression.Computed => shown(computed)
      }
      Seq(s"${after}the time in $deadline")
    case Bound.Fails(condition) => Seq(s"${shown(condition)} does not hold for it")
    case Bound.Everything => Seq("all rows are removed together")
    case Bound.PreviousBatch => Seq("the next batch is inserted")
    case Bound.Any(bounds) => bounds.flatMap(reasons)
  }

  /** The clause that holds for rows that a bound evicts from the oldest row on; None for other
    * bounds.
    */
  private def failing(bound: Bound): Option[String] = bound match {
    case Bound.TimestampBehind(timestamp, span) => Some(s"their ${behind(timestamp, span)}")
    case Bound.ValueBehind(value, distance) => Some(s"their ${below(value, distance)}")
    case Bound.Fails(condition) => Some(s"${shown(condition)} does not hold for them")
    case _ => None
  }

  private def behind(timestamp: RowExpression, span: Span): String =
    s"${shown(timestamp)} is ${length(span)} or more before that of the new row"

  private def below(value: RowExpression, distance: Distance): String =
    s"${shown(value)} is more than ${far(distance)} below that of the new row"

  private def best(order: Order): String = order match {
    case Order.Arrival | _: Order.Replacing | _: Order.Shadowing => "newest"
    case _: Order.Sorted | _: Order.Ranked => "first"
  }

  private def worst(order: Order): String = order match {
    case Order.Arrival | _: Order.Replacing | _: Order.Shadowing => "oldest"
    case _: Order.Sorted | _: Order.Ranked => "last"
  }

  private def sorted(order: Order, bound: Bound): String = order match {
    case Order.Arrival | _: Order.Replacing | _: Order.Shadowing => ""
    case Order.Sorted(by) => sorted(by, bound)
    case Order.Ranked(_, by) => sorted(by, bound)
  }

  private def sorted(by: Seq[SortKey], bound: Bound): String = bound match {
    case _: Bound.MoreThan => s" in the order of ${criteria(by)}"
    case _ => s", sorted by ${criteria(by)}"
  }

  /** Further clauses on a window: evicted, replaced and refused rows, triggers and reports. */
  private def remarks(window: Window): Seq[String] =
    scanned(window) ++ replaced(window).toSeq ++ refused(window) ++ moved(window) ++
      reported(window.triggers.report)

  private def scanned(window: Window): Seq[String] = failing(window.bound).toSeq.map { reason =>
    s"when a row arrives, evicts rows from the oldest on while $reason"
  }

  private def replaced(window: Window): Option[String] = window.order match {
    case _: Order.Replacing if window.bound == Bound.Unbounded => None
    case Order.Replacing(keys) => Some(replacesPrevious(keys))
    case Order.Ranked(keys, _) => Some(replacesPrevious(keys))
    case Order.Shadowing(keys) =>
      Some(s"of each ${listed(keys)} only the newest row is visible")
    case Order.Arrival | _: Order.Sorted => None
  }

  private def replacesPrevious(keys: Seq[RowExpression]): String =
    s"a row replaces the previous row of the same ${listed(keys)}"

  private def refused(window: Window): Option[String] = window.admit match {
    case Admit.All => None
    case _ if window.bound == Bound.Unbounded && window.order == Order.Arrival => None
    case Admit.First(rows) => Some(s"inserts only the first ${several(rows)}")
    case Admit.FirstFor(span, origin) =>
      Some(s"inserts only rows that ${arriveWithin(span, origin)}")
    case Admit.FirstOfEach(keys) =>
      Some(s"inserts a row only while the window holds no row of the same ${listed(keys)}")
  }

  private def moved(window: Window): Seq[String] = {
    val Triggers(enter, leave, _) = window.triggers
    window.bound match {
      case Bound.PreviousBatch if enter == leave =>
        Seq(s"${whenCollected(enter)}, inserts the batch and removes the previous one")
      case Bound.PreviousBatch =>
        Seq(
          s"inserts the batch ${whenCollected(enter)}",
          s"removes the previous one ${when(leave)}")
      case _ if enter == Trigger.EachRow => left(window).toSeq
      case _ if enter == leave => Seq(s"inserts and evicts rows together ${when(leave)}")
      case _ => s"inserts rows only ${when(enter)}" +: left(window).toSeq
    }
  }

  private def left(window: Window): Option[String] =
    (window.bound, window.triggers.leave) match {
      case (bound, leave) if isPlain(bound, leave) => None
      case (Bound.MoreThan(1), _: Trigger.Excess) if window.order == Order.Arrival =>
        Some("the next row evicts all of them")
      case (Bound.MoreThan(count), Trigger.Excess(more)) =>
        val evicted = s"the ${worst(window.order)} $more rows"
        Some(s"evicts $evicted when the window holds ${count + more}")
      case (_, Trigger.Never) => Some("never evicts a row")
      case (_, leave) => Some(s"evicts rows only ${when(leave)}")
    }

  /** Returns true if rows leave as soon as the bound evicts them, or if the clause on the held
    * rows names the leave trigger, so that no clause of its own is needed.
    */
  private def isPlain(bound: Bound, leave: Trigger): Boolean = bound match {
    case Bound.Unbounded | Bound.Everything | Bound.PreviousBatch => true
    case _ if bound.usesTime => leave == Trigger.WhenDue
    case _ => leave == Trigger.EachRow || leave == Trigger.Excess(1)
  }

  private def reported(report: Trigger): Option[String] = report match {
    case Trigger.Never => None
    case Trigger.Exceeds(value, distance) =>
      val last = "that of the row of the last report"
      Some(s"reports the window contents ${above(value, distance, last)}")
    case _ => Some(s"reports the window contents ${when(report)}")
  }

  /** The event at which collected rows leave the window, or enter it as a batch. */
  private def whenCollected(trigger: Trigger): String = trigger match {
    case Trigger.EachRows(rows) => s"when the ${ordinal(rows)} arrives"
    case _ => when(trigger)
  }

  private def when(trigger: Trigger): String = trigger match {
    case Trigger.Never => "never"
    case Trigger.EachRow | Trigger.EachRows(1) => "when a row arrives"
    case Trigger.EachRows(rows) => s"at every ${ordinal(rows)} row"
    case Trigger.Excess(rows) => s"when the window holds ${counted(rows, "row")} too many"
    case Trigger.WhenDue => "when a row expires"
    case Trigger.Period(span, origin, forced) =>
      val counting = if (origin == Origin.epoch) "" else s", ${from(origin)}"
      s"every ${period(span)}$counting${alsoEmpty(forced)}"
    case Trigger.PeriodOrRows(span, rows, origin, forced) =>
      val start = origin.getOrElse(Origin.FirstRow) match {
        case Origin.FirstRow => "after the first row"
        case at => s"at the end of a period ${from(at)}"
      }
      s"${length(span)} after the previous batch (for the first batch: $start) or when the " +
        s"${ordinal(rows)} row arrives, whichever is first${alsoEmpty(forced)}"
    case Trigger.Crosses(timestamp, span, reference) =>
      val start = reference.fold(s"the ${shown(timestamp)} of the first row")(instant)
      s"before each row whose ${shown(timestamp)} is in a later period of ${length(span)}, " +
        s"counted from $start"
    case Trigger.Exceeds(value, distance) => above(value, distance, "that of the oldest row")
    case Trigger.Holds(condition, true) => s"with each row for which ${shown(condition)} holds"
    case Trigger.Holds(condition, false) => s"before each row for which ${shown(condition)} holds"
    case Trigger.Quiet(span) => s"when no row arrives for ${length(span)}"
    case Trigger.Punctuation => "at each window punctuation"
  }

  private def above(value: RowExpression, distance: Distance, other: String): String =
    s"before each row whose ${shown(value)} is more than ${far(distance)} above $other"

  /** Only triggers of batches fire without a change, when this batch and the previous one are
    * empty.
    */
  private def alsoEmpty(forced: Boolean): String = if (forced) ", even if both are empty" else ""

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
