package winops.window.rules

import winops.policy.Bound
import winops.storage.rows.Rows
import winops.window.time.Clock

/** A bound that the oldest rows exceed first. */
private[window] abstract class FrontBound {

  /** The first row from `head` until `end` that does not exceed the bound at the instant; `end`
    * if all rows exceed the bound.
    */
  def firstStaying(head: Long, end: Long, at: Long): Long

  /** The instant at which the oldest row exceeds the bound though no row arrives; [[Clock.Never]]
    * if none.
    */
  def due(head: Long): Long = Clock.Never
}

/** Builds bounds; None for a bound that the oldest rows need not exceed first. */
private[window] object FrontBound {
  def of(bound: Bound, rows: Rows): Option[FrontBound] = bound match {
    case Bound.Unbounded => Some(NoFrontBound)
    case Bound.MoreThan(count) => Some(new CountBound(count))
    case Bound.AgeReached(span) => Some(new AgeBound(span, 0L, rows))
    case Bound.AgeExceeded(span) => Some(AgeBound.exceeded(span, rows))
    case Bound.Any(bounds) =>
      val each = bounds.map(of(_, rows))
      Option.when(each.forall(_.isDefined))(new AnyBound(each.flatten.toArray))
    case _ => None
  }
}

/** A bound that no row exceeds. */
private case object NoFrontBound extends FrontBound {
  override def firstStaying(head: Long, end: Long, at: Long): Long = head
}

/** Bounds the number of rows: the oldest rows beyond `count` exceed it. */
private final class CountBound(count: Long) extends FrontBound {
  override def firstStaying(head: Long, end: Long, at: Long): Long = Math.max(head, end - count)
}

/** A bound that a row exceeds if it exceeds any of `bounds`. */
private final class AnyBound(bounds: Array[FrontBound]) extends FrontBound {
  override def firstStaying(head: Long, end: Long, at: Long): Long = {
    var row = head
    var i = 0
    while (i < bounds.length) {
      row = bounds(i).firstStaying(row, end, at)
      i += 1
    }
    row
  }

  override def due(head: Long): Long = {
    var first = Clock.Never
    var i = 0
    while (i < bounds.length) {
      first = Math.min(first, bounds(i).due(head))
      i += 1
    }
    first
  }
}
