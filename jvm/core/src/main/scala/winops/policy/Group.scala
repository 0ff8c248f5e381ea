package winops.policy

/** Group: the expressions whose distinct values have a window each; none means one window for
  * all.
  *
  * @param reclaim
  *   when a whole group is forgotten
  */
final case class Group(keys: Seq[RowExpression], reclaim: Option[Reclaim] = None) {

  /** The names of the keys that are columns. */
  def columns: Seq[String] = keys.collect { case RowExpression.Column(name) => name }
}

object Group {
  val whole: Group = Group(Nil)

  /** Groups by columns, named in no text. */
  def by(columns: Seq[String]): Group = Group(columns.map(RowExpression.Column(_)(0)))
}

/** Reclaim: when a whole group is forgotten. */
sealed trait Reclaim {
  def usesTime: Boolean = false
  def couplesGroups: Boolean = false
}

object Reclaim {

  /** SPL partitionAge: when no row has come for `micros`; its rows are told as deleted. */
  final case class Silent(micros: Long) extends Reclaim {
    override def usesTime: Boolean = true
  }

  /** SPL partitionCount: with more than `groups` groups, those that rows came to least lately. */
  final case class MoreGroupsThan(groups: Long) extends Reclaim {
    override def couplesGroups: Boolean = true
  }

  /** SPL tupleCount: with more than `rows` rows in all groups, those that rows came to least
    * lately.
    */
  final case class MoreRowsThan(rows: Long) extends Reclaim {
    override def couplesGroups: Boolean = true
  }

  /** Esper's hints: when a row arrives, and no sweep was made for `everyMillis`, all groups that
    * no row has come to for more than `millis` are dropped without a word.
    */
  final case class SweptAtArrival(millis: Long, everyMillis: Long) extends Reclaim {
    override def usesTime: Boolean = true
    override def couplesGroups: Boolean = true
  }
}
