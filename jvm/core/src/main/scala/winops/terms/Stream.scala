package winops.terms

/** The changes that a policy emits, and their order within a step.
  *
  * @param inserts
  *   true if inserts are emitted
  * @param deletes
  *   true if deletes are emitted
  * @param order
  *   order of the changes within a step
  */
final case class Stream(inserts: Boolean, deletes: Boolean, order: StepOrder)

object Stream {

  /** Inserts and deletes; within a step the inserts come first. */
  val InsertsThenDeletes: Stream =
    Stream(inserts = true, deletes = true, StepOrder.InsertsFirst)
}

/** The order of the changes within a step. */
sealed trait StepOrder

object StepOrder {

  /** Inserts before deletes. A row that enters and leaves in the same step is emitted as both. */
  case object InsertsFirst extends StepOrder

  /** Inserts before deletes. A row that enters and leaves in the same step is not emitted. */
  case object Net extends StepOrder

  /** The order of SPL's window events, which each kind of window defines for itself. */
  case object Events extends StepOrder
}
