package winops.window.time

import winops.storage.bytes.{ByteReader, ByteWriter}

/** The clock of a group, its last arrival, and the idle time after which the group ends.
  *
  * The clock receives instants and never reads one. An instance is reused from group to group:
  * [[clear]], or [[restoreNow]] and [[restore]], start the next group.
  *
  * @param idle
  *   the milliseconds without an arrival after which the group ends; [[Clock.Never]] if it stays
  */
final class GroupClock(idle: Long) {
  import GroupClock._

  private var clock = Long.MinValue
  private var lastArrival = Long.MinValue
  private var alive = false

  /** The instant of the group, in milliseconds. */
  def now: Long = clock

  /** True if the group has state to store beside rows that wait. */
  def isAlive: Boolean = alive

  /** Moves the clock to `instant`, unless it is later. */
  def reach(instant: Long): Unit = if (instant > clock) clock = instant

  /** The arrival time of a row with timestamp `instant`: the timestamp, or the group's clock if
    * that is later. The clock never goes back, and no row is dropped as late.
    */
  def arrivalAt(instant: Long): Long = Math.max(instant, clock)

  /** Notes an arrival. */
  def arrived(at: Long): Unit = {
    alive = true
    lastArrival = at
  }

  /** Keeps the group alive without an arrival. */
  def live(): Unit = alive = true

  /** The instant at which the group has been silent for too long; [[Clock.Never]] if it stays. */
  def idleDue: Long =
    // A shorter idle time after a restart may be over before now; the group then ends now.
    if (idle == Clock.Never) Clock.Never else Math.max(lastArrival + idle, clock)

  /** Starts with the instant, the last arrival and the life of another clock. */
  def startAs(other: GroupClock): Unit = {
    clock = other.clock
    lastArrival = other.lastArrival
    alive = other.alive
  }

  /** Starts with a group that has no rows. */
  def clear(): Unit = {
    clock = Long.MinValue
    restart()
  }

  /** Starts a removed group again without moving its clock. */
  def restart(): Unit = {
    alive = false
    lastArrival = Long.MinValue
  }

  /** Stores the instant of the group, before anything else of the group. */
  def saveNow(out: ByteWriter): Unit = out.number(clock)

  /** Restores the instant of the group. */
  def restoreNow(in: ByteReader): Unit = clock = Clock.restore(in)

  /** The form in which the last arrival is stored, a number below [[Kinds]].
    *
    * @param near
    *   an instant near the last arrival that is known when the group is restored
    */
  def kind(near: Long): Long =
    if (!alive) Dead
    else if (lastArrival == clock) AtClock
    else if (lastArrival == near) Near
    else Elsewhere

  /** Stores what [[kind]] does not tell. */
  def save(out: ByteWriter, near: Long): Unit =
    if (kind(near) == Elsewhere) out.number(lastArrival - near)

  /** Restores a clock that was saved with the same kind and `near`, after [[restoreNow]]. */
  def restore(in: ByteReader, kind: Long, near: Long): Unit = {
    alive = kind != Dead
    lastArrival = kind match {
      case Dead => Long.MinValue
      case AtClock => clock
      case Near => near
      case _ => near + in.number()
    }
  }
}

object GroupClock {

  /** The number of kinds in which a last arrival is stored. */
  val Kinds = 4L

  private val Dead = 0L
  private val AtClock = 1L
  private val Near = 2L
  private val Elsewhere = 3L
}
