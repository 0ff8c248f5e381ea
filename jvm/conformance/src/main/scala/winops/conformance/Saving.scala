package winops.conformance

import scala.util.Random

/** Before which entries all groups are stored and taken up again. */
trait Saving {
  def now(): Boolean
}

object Saving {
  case object Never extends Saving {
    override def now(): Boolean = false
  }

  case object Always extends Saving {
    override def now(): Boolean = true
  }

  /** Before about every second entry, the same ones for the same seed. */
  final class Sometimes(seed: Long) extends Saving {
    private val random = new Random(seed)
    override def now(): Boolean = random.nextBoolean()
  }
}
