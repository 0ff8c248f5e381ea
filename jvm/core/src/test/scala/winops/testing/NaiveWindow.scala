package winops.testing

/** A simple implementation of one group of a CCL window: a list of rows, checked at every
  * millisecond. It shares no code with the machine.
  *
  * @param first
  *   the policy, until it is replaced
  * @param idle
  *   milliseconds without rows after which the group is removed
  */
final class NaiveWindow(first: CclWindow, idle: Option[Long]) {
  import NaiveWindow._

  private var keep = first
  private var held = List.empty[Held]
  private var now = Option.empty[Long]
  private var firstArrival = Option.empty[Long]
  private var lastArrival = Option.empty[Long]
  private var rows = 0
  private var steps = 0L
  private var changes = 0L
  private var emitted = Vector.empty[ObservedChange]

  /** All changes for these inputs, in order. */
  def feed(inputs: Seq[Input]): Seq[ObservedChange] = {
    inputs.foreach { input =>
      moveClock(input.at)
      input match {
        case Input.Row(_) => arrive()
        case Input.Time(_) =>
      }
    }
    emitted
  }

  /** Continues with another policy, for which rows may already have expired. */
  def become(other: CclWindow): Unit = {
    keep = other
    now.foreach(at => step(Nil, held.filter(row => tooOld(row, at))))
  }

  def content: Seq[Int] = held.map(_.row)

  // The clock never goes back, and timers precede rows.
  private def moveClock(to: Long): Unit = {
    val from = now.getOrElse(to - 1)
    ((from + 1) to to).foreach { instant =>
      now = Some(instant)
      step(Nil, held.filter(row => tooOld(row, instant)))
      if (lastArrival.exists(last => idle.exists(instant - last >= _))) forget()
    }
  }

  private def arrive(): Unit = {
    val row = Held(rows, now.get)
    rows += 1
    firstArrival = firstArrival.orElse(now)
    lastArrival = now
    val content = held :+ row
    val removed = keep match {
      // At count + slack rows, all rows but the newest count are evicted.
      case CclWindow.Rows(count, slack) if content.size >= count + slack =>
        content.dropRight(count)
      // A row beyond the count starts the next window.
      case CclWindow.EveryRows(count) if content.size > count => content.init
      case CclWindow.All | _: CclWindow.Rows | _: CclWindow.EveryRows | _: CclWindow.Interval |
          _: CclWindow.EveryInterval =>
        Nil
    }
    step(List(row), removed)
  }

  private def tooOld(row: Held, instant: Long): Boolean = keep match {
    // A row whose age equals the interval has expired.
    case CclWindow.Interval(micros) => (instant - row.arrived) * 1000 >= micros
    // A row expires at the end of the period in which it arrived.
    case CclWindow.EveryInterval(micros, origin) =>
      val zero = origin.orElse(firstArrival).get
      def interval(t: Long): Long = Math.floorDiv((t - zero) * 1000, micros)
      interval(instant) > interval(row.arrived)
    case CclWindow.All | _: CclWindow.Rows | _: CclWindow.EveryRows => false
  }

  private def forget(): Unit = {
    step(Nil, held)
    firstArrival = None
    lastArrival = None
    steps = 0
    changes = 0
  }

  // Inserts precede deletes, oldest first; a step without rows emits nothing.
  private def step(inserted: List[Held], removed: List[Held]): Unit =
    if (inserted.nonEmpty || removed.nonEmpty) {
      val all = inserted.map(true -> _) ++ removed.map(false -> _)
      all.foreach { case (isInsert, row) =>
        emitted :+= ObservedChange(isInsert, row.row, now.get, steps, changes)
        changes += 1
      }
      steps += 1
      held = (held ++ inserted).filterNot(removed.contains)
    }
}

object NaiveWindow {
  private final case class Held(row: Int, arrived: Long)
}
