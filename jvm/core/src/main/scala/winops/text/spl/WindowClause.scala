package winops.text.spl

import winops.policy._
import winops.terms.{Distance, Origin, RowExpression, Span, StepOrder, Stream}
import winops.window.piece._

/** A window clause, with the values of parameters in place and attributes looked up.
  *
  * @param shape
  *   kind of the window with its sizes
  * @param keys
  *   attributes of `partitionBy`
  * @param eviction
  *   rule by which whole partitions are removed
  */
private[spl] final case class WindowClause(
    shape: Shape[Delta],
    keys: Seq[RowExpression.Column],
    eviction: Option[PartitionEviction]) {

  /** The policy of the clause.
    *
    * SPL: tuples enter when they arrive. Each kind of window defines the order of its events.
    *
    * @param origin
    *   instant from which periodic triggers count
    */
  def policy(origin: Origin): Policy = {
    val (bound, leave, report) = shape match {
      case Shape.Tumbling(eviction) =>
        (Everything, triggerOf(eviction, origin), Never)
      case Shape.Punctuated => (Everything, Punctuation, Never)
      case Shape.Sliding(Extent.Count(rows), trigger) =>
        (MoreThan(rows), EachRow, triggerOf(trigger, origin))
      case Shape.Sliding(Extent.Time(micros), trigger) =>
        (AgeExceeded(Span.ofMicros(micros)), WhenDue, triggerOf(trigger, origin))
      case Shape.Sliding(Extent.Attribute(delta), trigger) =>
        val bound = ValueBehind(delta.attribute, delta.distance)
        (bound, EachRow, triggerOf(trigger, origin))
    }
    Policy(
      Group(keys, eviction.map(_.reclaim)),
      Retention.One(Window(EveryRow, Arrival, bound, Triggers(EachRow, leave, report))),
      Stream(inserts = true, deletes = true, StepOrder.Events),
      SplPrinter.text(this, origin),
      SplPrinter.window(this, origin))
  }

  private def triggerOf(extent: Extent[Delta], origin: Origin): Trigger = extent match {
    case Extent.Count(rows) => EachRows(rows)
    case Extent.Time(micros) => Period(Span.ofMicros(micros), origin)
    case Extent.Attribute(delta) => Exceeds(delta.attribute, delta.distance)
  }
}

/** The kinds of windows.
  *
  * @tparam D
  *   type of a delta, before or after its attribute is looked up
  */
private[spl] sealed trait Shape[+D]

private[spl] object Shape {
  final case class Tumbling[D](eviction: Extent[D]) extends Shape[D]

  /** A tumbling window that window punctuations empty. */
  case object Punctuated extends Shape[Nothing]

  final case class Sliding[D](eviction: Extent[D], trigger: Extent[D]) extends Shape[D]
}

/** The size of a window, or the amount of input between two triggers.
  *
  * @tparam D
  *   type of a delta, before or after its attribute is looked up
  */
private[spl] sealed trait Extent[+D]

private[spl] object Extent {
  final case class Count(rows: Long) extends Extent[Nothing]
  final case class Time(micros: Long) extends Extent[Nothing]
  final case class Attribute[D](delta: D) extends Extent[D]

  /** SPL: the default trigger of a sliding window. */
  val EachTuple: Extent[Nothing] = Count(1)
}

/** A delta in the arithmetic of its attribute.
  *
  * @param size
  *   the distance in the canonical text
  */
private[spl] final case class Delta(
    attribute: RowExpression.Column,
    distance: Distance,
    size: String)

/** The rule by which whole partitions are removed. */
private[spl] sealed abstract class PartitionEviction(val reclaim: Reclaim)

private[spl] object PartitionEviction {
  final case class Age(micros: Long) extends PartitionEviction(Reclaim.Silent(micros))
  final case class Partitions(count: Long)
      extends PartitionEviction(Reclaim.MoreGroupsThan(count))
  final case class Tuples(count: Long) extends PartitionEviction(Reclaim.MoreRowsThan(count))
}
