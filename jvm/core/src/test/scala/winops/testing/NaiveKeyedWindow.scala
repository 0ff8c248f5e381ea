package winops.testing

import winops.terms.RowOperation
import winops.window.changes.RowOutcome

/** A simple implementation of one group of rows with a primary key: a list of rows, checked at
  * every millisecond. It shares no code with the machine.
  *
  * @param text
  *   the policy, one of [[NaiveKeyedWindow.texts]]
  * @param buffer
  *   the number of rows behind the window, one of [[NaiveKeyedWindow.buffered]]
  */
final class NaiveKeyedWindow(text: String, buffer: Int = 0) {
  import NaiveKeyedWindow._

  private var held = Vector.empty[Held]
  private var behind = Vector.empty[Held]
  private var now = Option.empty[Long]
  private var entered = 0L
  private var steps = 0L
  private var changes = 0L
  private var emitted = Vector.empty[KeyedChange]

  def isAlive: Boolean = entered > 0
  def size: Int = held.size + behind.size

  /** The tags of the contents in the order of the window. */
  def content: Seq[Int] = inOrder.map(_.row.tag)

  def feed(input: KeyedRow): (Seq[KeyedChange], Int) = {
    emitted = Vector.empty
    val before = now
    advanceTo(input.at)
    val there = (held ++ behind).find(_.row.k == input.k)
    val outcome = (input.operation, there) match {
      case (RowOperation.Insert, Some(_)) => RowOutcome.KeyHeld
      case (RowOperation.Update | RowOperation.Delete, None) => RowOutcome.NotHeld
      case (_, None) =>
        insert(input)
        RowOutcome.Inserted
      case (RowOperation.Delete, Some(row)) =>
        val isIn = held.contains(row)
        divide(
          Seq(("delete", row, "deleted")).filter(_ => isIn),
          held.filterNot(_ == row),
          behind.filterNot(_ == row))
        RowOutcome.Deleted
      case (_, Some(row)) =>
        update(row, input)
        RowOutcome.Updated
    }
    if (!isAlive) now = before
    (emitted, outcome)
  }

  def advance(at: Long): Seq[KeyedChange] = {
    emitted = Vector.empty
    advanceTo(at)
    emitted
  }

  private def advanceTo(at: Long): Unit = {
    val from = now.getOrElse(at - 1)
    ((from + 1) to at).foreach { instant =>
      now = Some(instant)
      val gone = held.filter(expires(_, instant))
      if (gone.nonEmpty) {
        val why = if (text.startsWith("KEEP EVERY")) "trigger" else "expired"
        step(gone.map(row => ("delete", row, why)))
      }
    }
  }

  private def expires(row: Held, instant: Long): Boolean = text match {
    case "KEEP 20 MILLISECONDS" | "#time(20 msec)" => instant - row.arrived >= 20
    case "KEEP EVERY 15 MILLISECONDS" =>
      Math.floorDiv(instant, 15L) > Math.floorDiv(row.arrived, 15L)
    case _ => false
  }

  private def insert(input: KeyedRow): Unit = {
    val row = Held(entered, now.get, input)
    entered += 1
    if (buffer == 0) insertAndEvict(row, input)
    else {
      val (in, rest) = withoutTwins(row)
      divide(("insert", row, "arrived") +: replaced(row), in :+ row, rest)
    }
  }

  private def insertAndEvict(row: Held, input: KeyedRow): Unit = {
    val twin =
      if (text.contains("(u")) held.filter(_.row.u == input.u).map(("delete", _, "replaced"))
      else Nil
    val content = held.filterNot(one => twin.exists(_._2 == one)) :+ row
    def oldest(count: Int, why: String) = content.take(count).map(("delete", _, why))
    val out = text match {
      case "KEEP 3 ROWS" | "#length(3)" => oldest(content.size - 3, "displaced")
      case "KEEP 3 ROWS SLACK 4" if content.size >= 7 => oldest(4, "displaced")
      case "KEEP 70 ROWS" => oldest(content.size - 70, "displaced")
      case "KEEP EVERY 4 ROWS" if content.size > 4 => oldest(4, "trigger")
      case "#sort(4, v)" | "#rank(u, 4, v)" if content.size > 4 =>
        Seq(("delete", sorted(content).last, "displaced"))
      case _ => Nil
    }
    step(("insert", row, "arrived") +: (twin ++ out))
  }

  private def update(row: Held, input: KeyedRow): Unit = {
    val after = row.copy(row = input)
    def updated(rows: Vector[Held]): Vector[Held] =
      rows.map(one => if (one.number == row.number) after else one)
    val (in, rest) = withoutTwins(after)
    val pair = Seq(("update_before", row, "updated"), ("update_after", after, "updated"))
    divide(pair.filter(_ => held.contains(row)) ++ replaced(after), updated(in), updated(rest))
  }

  /** The other rows with the value that only one row may have. */
  private def areTwins(row: Held)(other: Held): Boolean =
    text.contains("(u") && other.number != row.number && other.row.u == row.row.u

  private def replaced(row: Held): Seq[(String, Held, String)] =
    held.filter(areTwins(row)).map(("delete", _, "replaced"))

  private def withoutTwins(row: Held): (Vector[Held], Vector[Held]) =
    (held.filterNot(areTwins(row)), behind.filterNot(areTwins(row)))

  /** Emits a step whose operation has left the rows `anyOrder` in the window, and `rest` behind
    * it.
    *
    * @param first
    *   the changes of the operation
    */
  private def divide(
      first: Seq[(String, Held, String)],
      anyOrder: Vector[Held],
      rest: Vector[Held]): Unit = {
    val in = anyOrder.sortBy(_.number)
    val (most, atOnce) = buffered.getOrElse(text, (Int.MaxValue, 1))
    val (window, others) =
      if (buffer == 0) (in, Vector.empty[Held])
      else if (isSorted) sorted(in ++ rest).splitAt(most)
      else if (in.size - most >= atOnce) (in.takeRight(most), rest ++ in.dropRight(most))
      else {
        val (stay, back) = rest.splitAt(rest.size - Math.max(0, most - in.size))
        (back ++ in, stay)
      }
    val numbers = window.map(_.number).toSet
    val displaced = in.filterNot(row => numbers(row.number))
    val returned = window.filterNot(row => in.exists(_.number == row.number))
    val ordered = if (isSorted) returned else returned.reverse
    val changes = first ++ displaced.map(("delete", _, "displaced")) ++
      ordered.map(("insert", _, "returned"))
    if (changes.nonEmpty) step(changes)
    behind = if (isSorted) others.take(buffer) else others.takeRight(buffer)
  }

  private def isSorted: Boolean = text.startsWith("#sort") || text.startsWith("#rank")

  private def inOrder: Vector[Held] =
    if (isSorted) sorted(held) else held.sortBy(_.number)

  /** Of equal rows, the newest is first. */
  private def sorted(rows: Vector[Held]): Vector[Held] =
    rows.sortBy(row => (row.row.v, -row.number))

  private def step(all: Seq[(String, Held, String)]): Unit = {
    all.foreach { case (kind, row, reason) =>
      emitted :+= KeyedChange(kind, row.number, row.row.tag, now.get, steps, changes, reason)
      changes += 1
      kind match {
        case "insert" => held :+= row
        case "delete" => held = held.filterNot(_.number == row.number)
        case "update_after" =>
          held = held.map(one => if (one.number == row.number) row else one)
        case _ =>
      }
    }
    steps += 1
  }
}

object NaiveKeyedWindow {
  private final case class Held(number: Long, arrived: Long, row: KeyedRow)

  val texts: Seq[String] = Seq(
    "KEEP ALL",
    "KEEP 3 ROWS",
    "KEEP 3 ROWS SLACK 4",
    "KEEP 70 ROWS",
    "KEEP EVERY 4 ROWS",
    "KEEP 20 MILLISECONDS",
    "KEEP EVERY 15 MILLISECONDS",
    "#keepall",
    "#length(3)",
    "#time(20 msec)",
    "#unique(u)",
    "#sort(4, v)",
    "#rank(u, 4, v)")

  /** The windows into which rows return, with the number of their rows, and of those that leave
    * together.
    */
  val buffered: Map[String, (Int, Int)] = Map(
    "KEEP 3 ROWS" -> ((3, 1)),
    "KEEP 3 ROWS SLACK 4" -> ((3, 4)),
    "KEEP 70 ROWS" -> ((70, 1)),
    "#length(3)" -> ((3, 1)),
    "#sort(4, v)" -> ((4, 1)),
    "#rank(u, 4, v)" -> ((4, 1)))
}
