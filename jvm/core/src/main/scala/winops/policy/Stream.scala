package winops.policy

/** Stream: which changes are emitted, and in which order within a step.
  *
  * @param inserts
  *   true if inserts are emitted
  * @param deletes
  *   true if deletes are emitted
  * @param order
  *   how a step is told
  */
final case class Stream(inserts: Boolean, deletes: Boolean, order: StepOrder)

object Stream {

  /** Inserts and deletes; within a step the inserted rows first. */
  val InsertsThenDeletes: Stream =
    Stream(inserts = true, deletes = true, StepOrder.InsertsFirst)
}

/** The order of the changes of a step. */
sealed trait StepOrder

object StepOrder {

  /** The inserted rows first. A row that enters and leaves at once is emitted as both. */
  case object InsertsFirst extends StepOrder

  /** The inserted rows first; a row that comes and leaves at once was never there. */
  case object Net extends StepOrder

  /** In the order of window events: each window has an order of its own. */
  case object Events extends StepOrder
}
