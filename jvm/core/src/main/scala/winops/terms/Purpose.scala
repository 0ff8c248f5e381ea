package winops.terms

/** The purpose of an expression that a window reads from rows. It decides which types the
  * expression may have.
  */
sealed trait Purpose {

  /** Returns true if a window refuses a row in which the value is missing: there is nothing to
    * compare. A key or a sort key can be NULL, and a condition of NULL does not hold.
    */
  def needsValue: Boolean = false
}

object Purpose {

  /** A key whose equal values belong together. */
  case object Key extends Purpose

  /** A value to sort by. */
  case object SortKey extends Purpose

  /** A point in time that is compared with those of other rows. */
  case object Timestamp extends Purpose {
    override def needsValue: Boolean = true
  }

  /** A point in time that is compared with the clock. */
  case object Deadline extends Purpose {
    override def needsValue: Boolean = true
  }

  /** A number that is compared by a [[Distance.Whole]]. */
  case object WholeNumber extends Purpose {
    override def needsValue: Boolean = true
  }

  /** A number that is compared by a [[Distance.Real]]. */
  case object RealNumber extends Purpose {
    override def needsValue: Boolean = true
  }

  /** A condition on the row and its window. */
  case object Condition extends Purpose

  /** The purpose of a number of which two values are compared by the distance. */
  def numberFor(distance: Distance): Purpose = distance match {
    case _: Distance.Whole => WholeNumber
    case _: Distance.Real => RealNumber
  }
}
