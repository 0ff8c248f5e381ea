package winops.window.machine

import winops.policy._
import winops.window.batch.{Batching, NetChanges}
import winops.window.combination.{Combination, IndependentWindows, Parts, SharingWindow}
import winops.window.contents.{SharedRows, WindowContext}
import winops.window.event.Events
import winops.window.rules.{AgeRule, CountRule, Part, CombinedParts, PeriodRule}
import winops.window.single.{KeepingAll, KeepingNewest, KeepingUntilPeriod, KeepingYoung, Retainer}
import winops.window.time.Anchor

/** Chooses the retainer of a policy. */
private[window] object Retainers {
  private type Make[+A] = WindowContext => A

  private final val Pieces = "combination of admission, order, bound and triggers"

  /** The maker of the policy's retainer, or the reason why no retainer implements the policy. */
  def of(policy: Policy): Either[String, WindowContext => Retainer] =
    (policy.retention, policy.stream.order) match {
      case (Retention.Independent(named), _) => independent(policy, named)
      case (Retention.One(window), order) =>
        val found = order match {
          case StepOrder.Events => Events.of(window)
          case StepOrder.Net => simple(window).orElse(NetChanges.of(window))
          case StepOrder.InsertsFirst =>
            simple(window).orElse(several(Seq(window), isUnion = false).toOption)
        }
        found.toRight(s"no window with the order $order has this $Pieces")
      case (Retention.Intersection(windows), StepOrder.InsertsFirst) =>
        several(windows, isUnion = false)
      case (Retention.Union(windows), StepOrder.InsertsFirst) => several(windows, isUnion = true)
      case (_, order) => Left(s"windows that decide together do not have the order $order")
    }

  /** Returns true if rows of the policy may leave in any order. */
  def leavesHoles(policy: Policy): Boolean = policy.retention match {
    case Retention.One(window) => !leavesFromFront(window)
    case Retention.Independent(parts) =>
      parts.exists(part => leavesHoles(policy.copy(retention = part._2)))
    // A row that one window did not admit may leave before rows that this window holds.
    case Retention.Union(windows) =>
      !windows.forall(w => leavesFromFront(w) && w.admit == Admit.All)
    // A condition evicts rows from its own window alone, and a batch leaves between rows that
    // others hold.
    case Retention.Intersection(windows) =>
      !windows.forall(w => leavesFromFront(w) && !isBatch(w) && !isConditional(w))
  }

  private def leavesFromFront(window: Window): Boolean = window match {
    case Window(_, Order.Arrival | Order.Shadowing(_), bound, _) =>
      bound match {
        case _: Bound.DeadlineReached => false
        case _ => true
      }
    case _ => false
  }

  private def isBatch(window: Window): Boolean = window.bound == Bound.PreviousBatch

  private def isConditional(window: Window): Boolean = window.bound match {
    case _: Bound.Fails => true
    case _ => false
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
    each.collectFirst { case Left(why) => why }.toLeft { (context: WindowContext) =>
      val windows = each.flatMap(_.toOption).map { make =>
        val shared = new SharedRows(context.rows)
        new SharingWindow(shared, make(context.over(shared)))
      }
      new IndependentWindows(windows.toArray, context.rows, context.steps)
    }
  }

  private def simple(window: Window): Option[Make[Retainer]] = window match {
    case Window(
          Admit.All,
          Order.Arrival,
          bound,
          Triggers(Trigger.EachRow, leave, Trigger.Never)) =>
      (bound, leave) match {
        case (Bound.Unbounded, Trigger.Never) => Some(c => new KeepingAll(c.rows, c.steps))
        case (Bound.MoreThan(count), Trigger.Excess(excess)) =>
          Some(c => new KeepingNewest(new CountRule(count, excess), c.rows, c.steps))
        case (Bound.AgeReached(span), Trigger.WhenDue) =>
          Some(c => new KeepingYoung(new AgeRule(span, c.rows), c.rows, c.steps))
        case (Bound.Everything, Trigger.Period(span, origin, false)) =>
          Some { c =>
            val rule = new PeriodRule(span, new Anchor(origin), c.rows)
            new KeepingUntilPeriod(rule, c.rows, c.steps)
          }
        case _ => None
      }
    case _ => None
  }

  private def several(windows: Seq[Window], isUnion: Boolean): Either[String, Make[Retainer]] = {
    val (batches, filters) = if (isUnion) (Nil, windows) else windows.partition(isBatch)
    batches match {
      case Nil =>
        partsOf(filters, isUnion).map { parts => (context: WindowContext) =>
          new Combination(parts(context), isUnion, context.held, context.steps)
        }
      case Seq(batch) =>
        for {
          trigger <- Parts.triggerOf(batch).toRight(s"no batch window has this $Pieces")
          parts <- partsOf(filters, isUnion)
        } yield { (context: WindowContext) =>
          new Batching(
            parts(context),
            windows.indexOf(batch),
            trigger(context),
            context.held,
            context.steps)
        }
      case _ => Left("an intersection has at most one batch window")
    }
  }

  private def partsOf(
      windows: Seq[Window],
      isUnion: Boolean): Either[String, Make[CombinedParts]] = {
    val makers = windows.map(window => Parts.of(window, isUnion).toRight(window))
    makers.collectFirst { case Left(window) => window } match {
      case Some(_) => Left(s"no window of a combination has this $Pieces")
      case None =>
        val each = makers.flatMap(_.toOption)
        Right((context: WindowContext) => new CombinedParts(each.map(_(context)).toArray[Part]))
    }
  }
}
