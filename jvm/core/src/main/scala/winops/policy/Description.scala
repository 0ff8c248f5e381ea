package winops.policy

import winops.policy.Wording._

/** Describes in one English sentence which rows a policy keeps. The sentence leaves out the order
  * of the changes within a step, because that order does not decide which rows stay.
  */
private[policy] object Description {
  def of(policy: Policy, reclaim: Option[Reclaim]): String = {
    val filter = policy.filter.map(condition => s"of the rows with ${shown(condition)}")
    val group = Option.when(policy.group.keys.nonEmpty)(s"for each ${listed(policy.group.keys)}")
    val clauses =
      retained(policy.retention) ++ policy.projection.map(Computation.of) ++ told(policy) ++
        (policy.group.reclaim ++ reclaim).map(forgotten)
    val sentence = (filter ++ group ++ Seq(clauses.mkString("; "))).mkString(", ")
    s"${sentence.head.toUpper}${sentence.tail}."
  }

  private def retained(retention: Retention): Seq[String] = retention match {
    case Retention.One(window) => s"keeps ${kept(window)}" +: remarks(window)
    case Retention.Intersection(windows) =>
      Seq(s"a row leaves as soon as one of these lets it go: ${numbered(windows)}")
    case Retention.Union(windows) =>
      Seq(s"a row leaves when the last of these lets it go: ${numbered(windows)}")
    case Retention.Independent(parts) =>
      parts.map { case (name, part) => s"in window $name, ${retained(part).mkString(", ")}" }
  }

  private def numbered(windows: Seq[Window]): String = {
    val items = windows.zipWithIndex.map { case (window, index) =>
      s"(${index + 1}) ${(kept(window) +: remarks(window)).mkString(", ")}"
    }
    items.mkString("; ")
  }

  /** The rows that a window holds. */
  private def kept(window: Window): String = window match {
    case Window(admit, Order.Arrival, Bound.Unbounded, _) => admitted(admit)
    case Window(_, Order.Replacing(keys), Bound.Unbounded, _) =>
      s"the newest row of each ${listed(keys)}"
    case Window(_, Order.Arrival, Bound.MoreThan(1), Triggers(_, Trigger.Excess(rows), _))
        if rows > 1 =>
      s"up to $rows rows"
    case Window(_, order, bound, _) => s"${held(bound, order)}${sorted(order, bound)}"
  }

  private def admitted(admit: Admit): String = admit match {
    case Admit.All => "every row"
    case Admit.First(rows) => s"the first ${several(rows)}"
    case Admit.FirstFor(span, origin) => s"the rows of the first ${length(span)}, ${from(origin)}"
    case Admit.FirstOfEach(keys) => s"the first row of each ${listed(keys)}"
  }

  private def held(bound: Bound, order: Order): String = bound match {
    case Bound.Unbounded => "every row"
    case Bound.MoreThan(rows) => s"the ${best(order)} ${several(rows)}"
    case Bound.AgeReached(span) => s"rows for ${length(span)}"
    case Bound.Everything => "rows"
    case Bound.PreviousBatch => "the newest lot of rows"
    case _: Bound.TimestampBehind | _: Bound.ValueBehind | _: Bound.Fails =>
      s"rows, of which the oldest leave while ${reasons(bound).mkString}"
    case _: Bound.AgeExceeded | _: Bound.DeadlineReached | _: Bound.Any =>
      reasons(bound) match {
        case Seq() => "every row"
        case some => s"rows until ${some.mkString(" or ")}"
      }
  }

  /** The reasons for which a bound evicts rows. In these clauses "they" and "their" stand for the
    * rows.
    */
  private def reasons(bound: Bound): Seq[String] = bound match {
    case Bound.Unbounded => Seq.empty
    case Bound.MoreThan(1) => Seq("a newer one has come in")
    case Bound.MoreThan(rows) => Seq(s"$rows newer ones have come in")
    case Bound.AgeReached(span) => Seq(s"they are ${length(span)} old")
    case Bound.AgeExceeded(span) => Seq(s"they are more than ${length(span)} old")
    case Bound.TimestampBehind(timestamp, span) =>
      Seq(s"their ${shown(timestamp)} is ${length(span)} or more behind the arriving row's")
    case Bound.ValueBehind(value, distance) =>
      Seq(s"their ${shown(value)} is more than ${far(distance)} below the arriving row's")
    case Bound.DeadlineReached(timestamp, span) =>
      val after = if (span.isEmpty) "" else s"${length(span)} after "
      Seq(s"it is ${after}their ${shown(timestamp)}")
    case Bound.Fails(condition) => Seq(s"${shown(condition)} does not hold for them")
    case Bound.Everything => Seq("they all leave together")
    case Bound.PreviousBatch => Seq("a new lot comes in")
    case Bound.Any(bounds) => bounds.flatMap(reasons)
  }

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
    case _: Bound.MoreThan => s" by ${criteria(by)}"
    case _ => s", in the order of ${criteria(by)}"
  }

  /** Further clauses on a window: replaced rows, refused rows, triggers and reports. */
  private def remarks(window: Window): Seq[String] =
    replaced(window).toSeq ++ refused(window) ++ moved(window) ++ reported(window.triggers.report)

  private def replaced(window: Window): Option[String] = window.order match {
    case _: Order.Replacing if window.bound == Bound.Unbounded => None
    case Order.Replacing(keys) => Some(takesThePlace(keys))
    case Order.Ranked(keys, _) => Some(takesThePlace(keys))
    case Order.Shadowing(keys) => Some(s"of each ${listed(keys)} only the newest row is seen")
    case Order.Arrival | _: Order.Sorted => None
  }

  private def takesThePlace(keys: Seq[RowExpression]): String =
    s"a row takes the place of the one before it of the same ${listed(keys)}"

  private def refused(window: Window): Option[String] = window.admit match {
    case Admit.All => None
    case _ if window.bound == Bound.Unbounded && window.order == Order.Arrival => None
    case Admit.First(1) => Some("only the first row comes in")
    case Admit.First(rows) => Some(s"only the first $rows rows come in")
    case Admit.FirstFor(span, origin) =>
      Some(s"only rows of the first ${length(span)}, ${from(origin)}, come in")
    case Admit.FirstOfEach(keys) =>
      Some(s"a row comes in only while none of the same ${listed(keys)} is held")
  }

  private def moved(window: Window): Seq[String] = {
    val Triggers(enter, leave, _) = window.triggers
    val rows = window.bound match {
      case Bound.Unbounded | Bound.MoreThan(1) => "rows"
      case _ => "they"
    }
    window.bound match {
      case Bound.PreviousBatch if enter == leave =>
        Seq(s"${when(leave)}, a new lot comes in and the old one leaves")
      case Bound.PreviousBatch =>
        Seq(s"a new lot comes in ${when(enter)}", s"the old one leaves ${when(leave)}")
      case _ if enter == Trigger.EachRow => left(window, rows).toSeq
      case _ if enter == leave => Seq(s"$rows come in and leave together ${when(leave)}")
      case _ => s"$rows come in ${when(enter)}" +: left(window, rows).toSeq
    }
  }

  private def left(window: Window, rows: String): Option[String] =
    (window.bound, window.triggers.leave) match {
      case (bound, leave) if isPlain(bound, leave) => None
      case (Bound.MoreThan(1), _: Trigger.Excess) if window.order == Order.Arrival =>
        Some("one more makes all the others leave")
      case (Bound.MoreThan(count), Trigger.Excess(more)) =>
        Some(s"when ${count + more} are held, the ${worst(window.order)} $more leave")
      case (_, Trigger.Never) => Some(s"$rows never leave")
      case (Bound.Everything, leave) => Some(s"they all leave together ${when(leave)}")
      case (_, leave) => Some(s"$rows leave ${when(leave)}")
    }

  /** Returns true if rows leave as soon as the bound evicts them, so that the sentence need not
    * name the leave trigger.
    */
  private def isPlain(bound: Bound, leave: Trigger): Boolean = bound match {
    case Bound.Unbounded => true
    case Bound.Everything | Bound.PreviousBatch => false
    case _ if bound.usesTime => leave == Trigger.WhenDue
    case _ => leave == Trigger.EachRow || leave == Trigger.Excess(1)
  }

  private def reported(report: Trigger): Option[String] = report match {
    case Trigger.Never => None
    case Trigger.Exceeds(value, distance) =>
      val last = "that of the row that last brought a report"
      Some(s"the content is reported ${above(value, distance, last)}")
    case _ => Some(s"the content is reported ${when(report)}")
  }

  private def when(trigger: Trigger): String = trigger match {
    case Trigger.Never => "never"
    case Trigger.EachRow | Trigger.EachRows(1) => "with every row"
    case Trigger.EachRows(rows) => s"with every ${ordinal(rows)} row"
    case Trigger.Excess(rows) => s"with ${counted(rows, "row")} too many"
    case Trigger.WhenDue => "when their time has come"
    case Trigger.Period(span, origin, forced) =>
      val counting = if (origin == Origin.epoch) "" else s", ${from(origin)}"
      s"every ${period(span)}$counting${alsoSilent(forced)}"
    case Trigger.PeriodOrRows(span, rows, origin, forced) =>
      val start = from(origin.getOrElse(Origin.FirstRow))
      s"after ${length(span)} or ${counted(rows, "row")}, whichever comes first, " +
        s"at first $start${alsoSilent(forced)}"
    case Trigger.Crosses(timestamp, span, reference) =>
      val start = reference.fold("the first one")(instant)
      s"before a row whose ${shown(timestamp)} is past the ${length(span)} in which the lot " +
        s"began, counted from $start"
    case Trigger.Exceeds(value, distance) => above(value, distance, "the oldest row's")
    case Trigger.Holds(condition, true) => s"with a row for which ${shown(condition)} holds"
    case Trigger.Holds(condition, false) => s"before a row for which ${shown(condition)} holds"
    case Trigger.Quiet(span) => s"when no row has come for ${length(span)}"
    case Trigger.Punctuation => "with each window punctuation"
  }

  private def above(value: RowExpression, distance: Distance, other: String): String =
    s"before a row whose ${shown(value)} is more than ${far(distance)} above $other"

  private def alsoSilent(forced: Boolean): String =
    if (forced) ", even with nothing to tell" else ""

  private def told(policy: Policy): Option[String] = {
    val (coming, leaving) = policy.projection match {
      case None => ("rows that come in", "rows that leave")
      case Some(_) => ("values after a change", "values before a change")
    }
    (policy.stream.inserts, policy.stream.deletes) match {
      case (true, true) => None
      case (true, false) => Some(s"only $coming are told")
      case (false, true) => Some(s"only $leaving are told")
      case (false, false) => Some("no change is told")
    }
  }

  private def forgotten(reclaim: Reclaim): String = reclaim match {
    case Reclaim.Silent(micros) =>
      s"a group without a new row for ${length(Span.ofMicros(micros))} is forgotten " +
        "and its rows leave"
    case Reclaim.MoreGroupsThan(groups) =>
      s"with more than ${counted(groups, "group")}, those longest without a new row " +
        "are forgotten and their rows leave"
    case Reclaim.MoreRowsThan(rows) =>
      s"with more than ${counted(rows, "row")} in all groups, the groups longest without a new " +
        "row are forgotten and their rows leave"
    case Reclaim.SweptAtArrival(millis, everyMillis) =>
      s"when a row comes, but at most once every ${period(Span.ofMillis(everyMillis))}, the " +
        s"groups without a new row for more than ${length(Span.ofMillis(millis))} are dropped " +
        "without a word"
  }
}
