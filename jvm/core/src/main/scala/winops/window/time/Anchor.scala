package winops.window.time

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}
import winops.terms.Origin

/** The instant from which periods count: a given instant, or the arrival of the group's first
  * row.
  */
private[window] final class Anchor(origin: Origin) {
  private var known = false
  private var value = 0L

  clear()

  /** Returns true if the instant is known: it is given, or a row has arrived. */
  def isKnown: Boolean = known

  /** The instant, in milliseconds; undefined until [[isKnown]]. */
  def instant: Long = value

  /** Takes `at` as the instant unless an instant is known. */
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
