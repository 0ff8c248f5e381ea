package winops.window.retainer

import winops.policy.{Policy, Retention, Sharing, Window}
import winops.terms.{Purpose, SortKey, StepOrder, Stream}
import winops.window.contents.{KeyIndex, SharedRows}
import winops.window.contents.WindowContext.Make
import winops.window.piece.{Arrival, EachRow, EveryRow, Never, PreviousBatch, Unbounded}
import winops.window.rules.{BatchTrigger, CombinedParts, EvictionRule, HeldPart, NeededValues, Part}

/** Builds the retainer of a policy from what its pieces say. Pieces are named here for a shape
  * alone: every row enters at once, in the order of arrival, without a bound, or in batches.
  */
private[window] object Retainers {
  private final val Pieces = "combination of admission, order, bound and triggers"

  /** The maker of the policy's retainer, or the reason why no retainer implements the policy. */
  def of(policy: Policy): Either[String, Make[Retainer]] =
    if (policy.isKeyed) keyed(policy) else ofRows(policy)

  private def ofRows(policy: Policy): Either[String, Make[Retainer]] =
    (policy.retention, policy.stream.order) match {
      case (Retention.Independent(named), _) => independent(policy, named)
      case (Retention.One(window), order) =>
        val found = order match {
          case StepOrder.Events => Events.of(window)
          case StepOrder.Net => front(window).orElse(NetChanges.of(window))
          case StepOrder.InsertsFirst =>
            front(window).orElse(several(Seq(window), isUnion = false).toOption)
        }
        found.toRight(s"no window with the order $order has this $Pieces")
      case (Retention.Intersection(windows), StepOrder.InsertsFirst) =>
        several(windows, isUnion = false)
      case (Retention.Union(windows), StepOrder.InsertsFirst) => several(windows, isUnion = true)
      case (_, order) => Left(s"windows that decide together do not have the order $order")
    }

  /** A window over rows with a primary key. */
  private def keyed(policy: Policy): Either[String, Make[Retainer]] =
    (policy.retention, policy.stream) match {
      case (Retention.One(window), Stream.InsertsThenDeletes) =>
        val found = keyedPart(window, policy.buffer)
        found.toRight(notKeyed(window, policy.buffer)).map { part => context =>
          val key = policy.key.map(SortKey(_, descending = false))
          new KeyedWindow(
            part(context),
            neededBy(Seq(window))(context),
            new KeyIndex(context.evaluator.sortKey(key), context.rows, context.newBlocks()),
            context.held,
            context.rows,
            context.changes)
        }
      case (Retention.One(_), stream) => Left(notKeyed(stream.order))
      case _ => Left("several windows hold the rows")
    }

  /** The reason why a window takes no rows with a primary key, in words of its users. */
  private def notKeyed(window: Window, buffer: Long): String =
    if (buffer > 0L) "it does not hold a given number of the newest or the first rows"
    else if (window.triggers.enter != EachRow) "it is a batch window, whose rows enter together"
    else
      window.admit.clause.fold(
        "the rows that it evicts depend on values or on other rows, which updates and deletes " +
          "change")(clause => s"it $clause")

  private def notKeyed(order: StepOrder): String = order match {
    case StepOrder.Events => "it is a window of IBM Streams, whose changes are events"
    case StepOrder.Net =>
      "it is a window of Apama, which emits no row that enters and leaves in one step"
    case StepOrder.InsertsFirst =>
      "its statement selects only one of istream and rstream; select irstream, or write the " +
        "window without select"
  }

  private def keyedPart(window: Window, buffer: Long): Option[Make[Part]] = {
    val Window(admit, order, bound, triggers) = window
    if (admit != EveryRow || triggers.enter != EachRow || triggers.report != Never ||
      !bound.takesKeys) None
    else if (buffer > 0L) {
      if (order == Arrival) bound.bufferedPart(triggers.leave, buffer)
      else if (bound.leavesAtOnce(triggers.leave)) order.bufferedPart(bound, buffer)
      else None
    } else if (order == Arrival) {
      val atOnce: Option[Make[EvictionRule]] = bound.ruleAtOnce
        .filter(_ => bound.leavesAtOnce(triggers.leave))
        .map(rule => context => rule(context.rows))
      bound
        .rule(triggers.leave)
        .orElse(atOnce)
        .map(rule => context => new HeldPart(rule(context), context.held))
    } else if (bound.leavesAtOnce(triggers.leave)) order.part(bound)
    else None
  }

  private def independent(
      policy: Policy,
      named: Seq[(String, Retention)]): Either[String, Make[Retainer]] = {
    val each = named.map { case (name, retention) =>
      val alone = policy.copy(retention = retention)
      val lacking = retention match {
        case _: Retention.Independent => Some("one window, not several")
        case _ => Sharing.expected(alone)
      }
      lacking.toLeft(()).flatMap(_ => of(alone)).left.map(why => s"the window $name: $why")
    }
    each.collectFirst { case Left(why) => why }.toLeft { context =>
      val windows = each.flatMap(_.toOption).map { make =>
        val shared = new SharedRows(context.rows)
        new SharingWindow(shared, make(context.over(shared)))
      }
      new IndependentWindows(windows.toArray, context.rows, context.changes)
    }
  }

  /** A window alone whose oldest rows leave. */
  private def front(window: Window): Option[Make[Retainer]] =
    window.bound
      .rule(window.triggers.leave)
      .filter(_ => isPlain(window) && window.triggers.enter == EachRow)
      .map { rule => context =>
        new FrontWindow(rule(context), context.rows, context.changes)
      }

  /** Returns true if the window takes every row, in the order of arrival, and reports nothing. */
  private def isPlain(window: Window): Boolean =
    window.admit == EveryRow && window.order == Arrival && window.triggers.report == Never

  private def several(windows: Seq[Window], isUnion: Boolean): Either[String, Make[Retainer]] = {
    val (batches, filters) =
      if (isUnion) (Nil, windows) else windows.partition(_.bound == PreviousBatch)
    batches match {
      case Nil =>
        partsOf(filters, isUnion).map { parts => context =>
          new Combination(
            parts(context),
            isUnion,
            neededBy(windows)(context),
            context.held,
            context.changes)
        }
      case Seq(batch) =>
        for {
          trigger <- triggerOf(batch).toRight(s"no batch window has this $Pieces")
          parts <- partsOf(filters, isUnion)
        } yield context =>
          new Batching(
            parts(context),
            windows.indexOf(batch),
            neededBy(windows)(context),
            trigger(context),
            context.held,
            context.changes)
      case _ => Left("an intersection has at most one batch window")
    }
  }

  private def neededBy(windows: Seq[Window]): Make[NeededValues] = { context =>
    val values = windows.flatMap(_.reads).collect {
      case (Purpose.Timestamp | Purpose.Deadline, value) => context.evaluator.timestamp(value)
      case (purpose, value) if purpose.needsValue => context.evaluator.number(value)
    }
    new NeededValues(values.toArray)
  }

  private def triggerOf(batch: Window): Option[Make[BatchTrigger]] = {
    val triggers = batch.triggers
    triggers.enter.batch.filter(_ => isPlain(batch) && triggers.enter == triggers.leave)
  }

  private def partsOf(
      windows: Seq[Window],
      isUnion: Boolean): Either[String, Make[CombinedParts]] = {
    val makers = windows.map(partOf(_, isUnion))
    if (makers.exists(_.isEmpty)) Left(s"no window of a combination has this $Pieces")
    else {
      Right(context => new CombinedParts(makers.flatten.map(_(context)).toArray[Part]))
    }
  }

  private def partOf(window: Window, inUnion: Boolean): Option[Make[Part]] = {
    val Window(admit, order, bound, triggers) = window
    if (window.changesAtOnce) {
      if (order == Arrival && bound == Unbounded) Some(admit.part)
      else if (admit == EveryRow) order.part(bound)
      else None
    } else if (isPlain(window)) bound.partAt(triggers.enter, triggers.leave, inUnion)
    else None
  }
}
