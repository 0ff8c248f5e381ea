package winops.policy

/** Admit: whether an arriving row may come in at all. */
sealed trait Admit {
  def usesTime: Boolean = false
}

object Admit {
  case object All extends Admit

  /** The first `rows` rows. */
  final case class First(rows: Long) extends Admit

  /** The rows that arrive before `span` is over, counted from `origin`. */
  final case class FirstFor(span: Span, origin: Origin) extends Admit {
    override def usesTime: Boolean = true
  }

  /** The first row of each key, as long as it stays. */
  final case class FirstOfEach(keys: Seq[RowExpression]) extends Admit
}
