package winops.policy

/** The rule by which a window admits arriving rows: one of the four pieces of a window. */
sealed trait Admit {

  /** Returns true if the rule depends on the time at which a row arrives. */
  def usesTime: Boolean = false
}

object Admit {

  /** Every row. */
  case object All extends Admit

  /** The first `rows` rows. */
  final case class First(rows: Long) extends Admit

  /** The rows that arrive before `span`, counted from `origin`, is over. */
  final case class FirstFor(span: Span, origin: Origin) extends Admit {
    override def usesTime: Boolean = true
  }

  /** The first row of each key. The window admits another row of the key only after that row has
    * left.
    */
  final case class FirstOfEach(keys: Seq[RowExpression]) extends Admit
}
