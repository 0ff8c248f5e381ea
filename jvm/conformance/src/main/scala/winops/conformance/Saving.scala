package winops.conformance

import scala.util.Random

/** Selects the entries before which all groups are saved and restored. */
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

  /** Selects about every second entry, the same ones for the same seed. */
  final class Sometimes(seed: Long) extends Saving {
    private val random = new Random(seed)
    override def now(): Boolean = random.nextBoolean()
  }
}
