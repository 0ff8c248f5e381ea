package winops.policy

import winops.terms.RowExpression
import winops.window.changes.ChangeReason

/** The expressions that divide rows into groups. Each group has windows of its own.
  *
  * @param keys
  *   group key expressions; if empty, all rows form one group
  * @param reclaim
  *   rule by which whole groups are removed
  */
final case class Group(keys: Seq[RowExpression], reclaim: Option[Reclaim] = None) {

  /** The names of the keys that are columns. */
  def columns: Seq[String] = keys.collect { case RowExpression.Column(name) => name }
}

object Group {

  /** One group of all rows. */
  val whole: Group = Group(Nil)

  /** Groups by columns. The keys have offset 0 and not their place in a text. */
  def by(columns: Seq[String]): Group = Group(columns.map(RowExpression.Column(_)(0)))
}

/** The rule by which whole groups are removed. */
sealed trait Reclaim {

  /** Returns true if groups are removed because time passes. */
  def usesTime: Boolean = false

  /** Returns true if the rule removes a group because of rows of other groups. */
  def isCrossGroup: Boolean = false

  /** The [[ChangeReason]] of the rows of a removed group; None if they leave without deletes. */
  def reason: Option[Int]
}

object Reclaim {

  /** SPL partitionAge: removes a group that has had no row for `micros`, and emits deletes for
    * its rows.
    */
  final case class Silent(micros: Long) extends Reclaim {
    override def reason: Option[Int] = Some(ChangeReason.GroupIdle)
    override def usesTime: Boolean = true
  }

  /** SPL partitionCount: if there are more than `groups` groups, removes the leading empty groups
    * and, while there are still too many, the group whose last row arrived first, and emits
    * deletes for its rows.
    */
  final case class MoreGroupsThan(groups: Long) extends Reclaim {
    override def reason: Option[Int] = Some(ChangeReason.GroupLimit)
    override def isCrossGroup: Boolean = true
  }

  /** SPL tupleCount: if all groups together hold more than `rows` rows, removes the leading empty
    * groups and, while there are still too many rows, the group whose last row arrived first, and
    * emits deletes for its rows.
    */
  final case class MoreRowsThan(rows: Long) extends Reclaim {
    override def reason: Option[Int] = Some(ChangeReason.GroupLimit)
    override def isCrossGroup: Boolean = true
  }

  /** Esper's reclaim hints: sweeps the groups when a row arrives at least `everyMillis` after the
    * last sweep. A sweep removes each group that has had no row for more than `millis`, without
    * emitting deletes.
    */
  final case class SweptAtArrival(millis: Long, everyMillis: Long) extends Reclaim {
    override def reason: Option[Int] = None
    override def usesTime: Boolean = true
    override def isCrossGroup: Boolean = true
  }
}
