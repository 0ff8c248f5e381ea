package winops.window.piece

import winops.storage.rows.Rows
import winops.terms.{Purpose, RowExpression}
import winops.window.rules.{EvictionRule, NoRule}

/** The rows that exceed any of `bounds`. Each bound must evict rows in the order of their
  * arrival.
  */
final case class AnyOf(bounds: Seq[Bound]) extends Bound {
  override def usesTime: Boolean = bounds.exists(_.usesTime)
  override def evictsOldestFirst: Boolean = bounds.forall(_.evictsOldestFirst)
  override def evictsFromAll: Boolean = bounds.forall(_.evictsFromAll)
  override def looksAtEachRow: Boolean = false

  override def leavesAtOnce(leave: Trigger): Boolean =
    leave == (if (usesTime) WhenDue else EachRow)

  override def reads: Seq[(Purpose, RowExpression)] = bounds.flatMap(_.reads)
  override def reasons(leave: Trigger): Seq[Int] = bounds.flatMap(_.reasons(leave))
  override def resizable(leave: Trigger): Option[Resizable] = None

  override private[window] def ruleAtOnce: Option[Rows => EvictionRule] = {
    val rules = bounds.map(_.ruleAtOnce)
    Option.when(rules.forall(_.isDefined)) { rows =>
      rules.flatten.map(_(rows)).foldLeft[EvictionRule](NoRule)(EitherRule.of)
    }
  }

  override def wordsOf(leave: Trigger): String =
    if (usesTime && !bounds.forall(_.usesTime)) s"${leave.words} or another one arrives"
    else leave.words

  override def until: Seq[String] = bounds.flatMap(_.until)
  override def whileEvicting: Option[String] = None
}

/** Evicts a row that either rule evicts; the rules store nothing.
  *
  * Each rule has a field: calls in a loop over an array would reach several classes, which the
  * JVM does not inline reliably.
  */
private final class EitherRule(one: EvictionRule, other: EvictionRule) extends EvictionRule {
  override def usesTime: Boolean = one.usesTime || other.usesTime
  override def excess(size: Long): Long = Math.max(one.excess(size), other.excess(size))
  override def due(row: Long): Long = Math.min(one.due(row), other.due(row))

  override def firstStaying(head: Long, end: Long, at: Long): Long = {
    val staying = one.firstStaying(head, end, at)
    if (staying < end) other.firstStaying(staying, end, at) else end
  }
}

private object EitherRule {
  def of(one: EvictionRule, other: EvictionRule): EvictionRule =
    if (one eq NoRule) other else new EitherRule(one, other)
}
