package winops.testing

/** One group of a CCL window, straight from the rules: a list of rows, looked through again at
  * every millisecond. Nothing here is shared with the machine.
  *
  * @param first
  *   the policy, until it becomes another
  * @param idle
  *   milliseconds of silence after which the group is forgotten
  */
final class NaiveWindow(first: Keep, idle: Option[Long]) {
  import NaiveWindow._

  private var keep = first
  private var held = List.empty[Held]
  private var now = Option.empty[Long]
  private var firstArrival = Option.empty[Long]
  private var lastArrival = Option.empty[Long]
  private var rows = 0
  private var steps = 0L
  private var changes = 0L
  private var told = Vector.empty[ObservedChange]

  /** Everything that has happened for these inputs, in order. */
  def tell(inputs: Seq[Input]): Seq[ObservedChange] = {
    inputs.foreach { input =>
      moveClock(input.at)
      input match {
        case Input.Row(_) => arrive()
        case Input.Time(_) =>
      }
    }
    told
  }

  /** Goes on with another policy, to which rows may be too old already. */
  def become(other: Keep): Unit = {
    keep = other
    now.foreach(at => step(Nil, held.filter(row => tooOld(row, at))))
  }

  def content: Seq[Int] = held.map(_.row)

  // The clock never goes back, and time goes before rows.
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
      // At count + slack rows all but the count newest go.
      case Keep.Rows(count, slack) if content.size >= count + slack => content.dropRight(count)
      // The row that would be one too many begins the next jump.
      case Keep.EveryRows(count) if content.size > count => content.init
      case _ => Nil
    }
    step(List(row), removed)
  }

  private def tooOld(row: Held, instant: Long): Boolean = keep match {
    // Age equal to the interval is out.
    case Keep.Interval(micros) => (instant - row.arrived) * 1000 >= micros
    // A row goes when the interval it arrived in is over.
    case Keep.EveryInterval(micros, origin) =>
      val zero = origin.orElse(firstArrival).get
      def interval(t: Long): Long = Math.floorDiv((t - zero) * 1000, micros)
      interval(instant) > interval(row.arrived)
    case _ => false
  }

  private def forget(): Unit = {
    step(Nil, held)
    firstArrival = None
    lastArrival = None
    steps = 0
    changes = 0
  }

  // Inserts before removes, oldest first; nothing is told of a step in which nothing happens.
  private def step(inserted: List[Held], removed: List[Held]): Unit =
    if (inserted.nonEmpty || removed.nonEmpty) {
      val all = inserted.map(true -> _) ++ removed.map(false -> _)
      all.foreach { case (isInsert, row) =>
        told :+= ObservedChange(isInsert, row.row, now.get, steps, changes)
        changes += 1
      }
      steps += 1
      held = (held ++ inserted).filterNot(removed.contains)
    }
}

object NaiveWindow {
  private final case class Held(row: Int, arrived: Long)
}
