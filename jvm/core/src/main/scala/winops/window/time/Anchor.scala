package winops.window.time

import winops.policy.Origin
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}

/** The instant from which periods count: a given one, or the first row's of the group. */
private[window] final class Anchor(origin: Origin) {
  private var known = false
  private var value = 0L

  clear()

  /** Whether there is an instant yet. */
  def isKnown: Boolean = known

  /** The instant, in milliseconds; of no meaning before there is a first row. */
  def instant: Long = value

  def arrive(at: Long): Unit = if (!known) {
    known = true
    value = at
  }

  def clear(): Unit = origin match {
    case Origin.At(millis) =>
      known = true
      value = millis
    case Origin.FirstRow =>
      known = false
      value = 0L
  }

  def save(out: ByteWriter): Unit = if (origin == Origin.FirstRow) {
    out.byte(if (known) 1 else 0)
    out.number(value)
  }

  def restore(in: ByteReader): Unit = {
    clear()
    if (origin == Origin.FirstRow) {
      known = in.byte() match {
        case 0 => false
        case 1 => true
        case other => throw new CorruptStateException(s"a stored flag of $other")
      }
      value = in.number()
    }
  }
}
