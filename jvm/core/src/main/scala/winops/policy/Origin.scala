package winops.policy

/** Where a periodic trigger starts to count. */
sealed trait Origin

object Origin {

  /** Milliseconds since the epoch. */
  final case class At(millis: Long) extends Origin

  /** The first row that the group ever had. */
  case object FirstRow extends Origin

  val epoch: Origin = At(0L)
}
