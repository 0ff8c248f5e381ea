package winops.policy

/** Stream: which changes are told, and in which order within a step.
  *
  * @param inserts
  *   whether rows that come in are told
  * @param deletes
  *   whether rows that leave are told
  * @param order
  *   how a step is told
  */
final case class Stream(inserts: Boolean, deletes: Boolean, order: StepOrder)

object Stream {

  /** Inserts and deletes; within a step the inserted rows first. */
  val InsertsThenDeletes: Stream =
    Stream(inserts = true, deletes = true, StepOrder.InsertsFirst)
}

/** In which order the changes of a step are told. */
sealed trait StepOrder

object StepOrder {

  /** The inserted rows first. A row that comes and leaves at once is told as both. */
  case object InsertsFirst extends StepOrder

  /** The inserted rows first; a row that comes and leaves at once was never there. */
  case object Net extends StepOrder

  /** In the order of window events: each window has an order of its own. */
  case object Events extends StepOrder
}
