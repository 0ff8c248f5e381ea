package winops.terms

/** The instant from which a periodic trigger counts. */
sealed trait Origin

object Origin {

  /** An instant in milliseconds since the epoch. */
  final case class At(millis: Long) extends Origin

  /** The arrival of the group's first row. */
  case object FirstRow extends Origin

  val epoch: Origin = At(0L)
}
