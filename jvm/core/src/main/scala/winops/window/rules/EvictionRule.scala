package winops.window.rules

import winops.policy.Bound
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.window.changes.ChangeReason
import winops.window.time.Clock

/** A rule by which a window evicts its oldest rows: because there are too many, or because time
  * has passed. All kinds of windows use the same rules. When a batch ends or contents are
  * reported, a trigger decides.
  */
private[window] abstract class EvictionRule {

  /** Notes that a row arrives at `at`. */
  def arrive(at: Long): Unit = ()

  /** Number of oldest rows that leave if the window has `size` rows. */
  def excess(size: Long): Long = 0L

  /** The instant at which a row expires; [[Clock.Never]] if time does not evict the row. No row
    * expires before an older one.
    */
  def due(row: Long): Long = Clock.Never

  /** The first row from `head` until `end` that has not expired at the instant; `end` if all rows
    * have. There is at least one row, and no ordinal is missing.
    */
  def firstStaying(head: Long, end: Long, at: Long): Long = {
    var row = head
    while (row < end && due(row) <= at) row += 1
    row
  }

  /** The [[ChangeReason]] of the rows that time evicts. */
  def reason: Int = ChangeReason.Expired

  def clear(): Unit = ()
  def save(out: ByteWriter): Unit = ()
  def restore(in: ByteReader): Unit = ()
}

private[window] object EvictionRule {

  /** Returns the maker of the rule that evicts each row as soon as it exceeds the bound, if a
    * number of rows or their ages decide.
    */
  def of(bound: Bound): Option[Rows => EvictionRule] = bound match {
    case Bound.Unbounded => Some(_ => NoRule)
    case Bound.MoreThan(count) => Some(_ => new CountRule(count))
    case Bound.AgeReached(span) => Some(new AgeRule(span, _))
    case Bound.AgeExceeded(span) => Some(AgeRule.exceeded(span, _))
    case Bound.Any(bounds) =>
      val rules = bounds.map(of)
      Option.when(rules.forall(_.isDefined)) { rows =>
        rules.flatten.map(_(rows)).foldLeft[EvictionRule](NoRule)(either)
      }
    case _ => None
  }

  private def either(one: EvictionRule, other: EvictionRule): EvictionRule =
    if (one eq NoRule) other else new EitherRule(one, other)
}

/** Evicts no row. */
private[window] case object NoRule extends EvictionRule {
  override def firstStaying(head: Long, end: Long, at: Long): Long = head
}

/** Evicts a row that either rule evicts; the rules store nothing.
  *
  * Each rule has a field: calls in a loop over an array would reach several classes, which the
  * JVM does not inline reliably.
  */
private final class EitherRule(one: EvictionRule, other: EvictionRule) extends EvictionRule {
  override def excess(size: Long): Long = Math.max(one.excess(size), other.excess(size))
  override def due(row: Long): Long = Math.min(one.due(row), other.due(row))

  override def firstStaying(head: Long, end: Long, at: Long): Long = {
    val staying = one.firstStaying(head, end, at)
    if (staying < end) other.firstStaying(staying, end, at) else end
  }
}
