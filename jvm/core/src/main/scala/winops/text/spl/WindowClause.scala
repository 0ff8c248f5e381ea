package winops.text.spl

import winops.policy._

/** What a window clause says, parameters filled in and attributes looked up. */
private[spl] final case class WindowClause(
    shape: Shape[Delta],
    keys: Seq[RowExpression.Column],
    eviction: Option[PartitionEviction]) {

  /** The policy, whose periodic triggers count from `origin`.
    *
    * SPL: tuples enter as they arrive, and each window has its own order of events.
    */
  def policy(origin: Origin): Policy = {
    val (bound, leave, report) = shape match {
      case Shape.Tumbling(eviction) => (Bound.Everything, triggerOf(eviction, origin), Trigger.Never)
      case Shape.Punctuated => (Bound.Everything, Trigger.Punctuation, Trigger.Never)
      case Shape.Sliding(Extent.Count(rows), trigger) =>
        (Bound.MoreThan(rows), Trigger.EachRow, triggerOf(trigger, origin))
      case Shape.Sliding(Extent.Time(micros), trigger) =>
        (Bound.AgeExceeded(Span.ofMicros(micros)), Trigger.WhenDue, triggerOf(trigger, origin))
      case Shape.Sliding(Extent.Attribute(delta), trigger) =>
        val bound = Bound.ValueBehind(delta.attribute, delta.distance)
        (bound, Trigger.EachRow, triggerOf(trigger, origin))
    }
    Policy(
      Group(keys, eviction.map(_.reclaim)),
      Retention.One(Window(Admit.All, Order.Arrival, bound, Triggers(Trigger.EachRow, leave, report))),
      Stream(inserts = true, deletes = true, StepOrder.Events),
      Canonical.text(this, origin),
      Canonical.window(this, origin))
  }

  private def triggerOf(extent: Extent[Delta], origin: Origin): Trigger = extent match {
    case Extent.Count(rows) => Trigger.EachRows(rows)
    case Extent.Time(micros) => Trigger.Period(Span.ofMicros(micros), origin)
    case Extent.Attribute(delta) => Trigger.Exceeds(delta.attribute, delta.distance)
  }
}

/** The kinds of windows.
  *
  * @tparam D
  *   what is known of a delta
  */
private[spl] sealed trait Shape[+D]

private[spl] object Shape {
  final case class Tumbling[D](eviction: Extent[D]) extends Shape[D]

  /** Tumbling at window punctuations. */
  case object Punctuated extends Shape[Nothing]

  final case class Sliding[D](eviction: Extent[D], trigger: Extent[D]) extends Shape[D]
}

/** How much a window holds, or how much has to come until it triggers.
  *
  * @tparam D
  *   what is known of a delta
  */
private[spl] sealed trait Extent[+D]

private[spl] object Extent {
  final case class Count(rows: Long) extends Extent[Nothing]
  final case class Time(micros: Long) extends Extent[Nothing]
  final case class Attribute[D](delta: D) extends Extent[D]

  /** SPL: the trigger of a sliding window that names none. */
  val EachTuple: Extent[Nothing] = Count(1)
}

/** A delta in the arithmetic of its attribute.
  *
  * @param size
  *   the distance as it is written
  */
private[spl] final case class Delta(
    attribute: RowExpression.Column,
    distance: Distance,
    size: String)

/** When whole partitions are forgotten. */
private[spl] sealed abstract class PartitionEviction(val reclaim: Reclaim)

private[spl] object PartitionEviction {
  final case class Age(micros: Long) extends PartitionEviction(Reclaim.Silent(micros))
  final case class Partitions(count: Long)
      extends PartitionEviction(Reclaim.MoreGroupsThan(count))
  final case class Tuples(count: Long) extends PartitionEviction(Reclaim.MoreRowsThan(count))
}
