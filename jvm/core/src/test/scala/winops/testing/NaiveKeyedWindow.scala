package winops.testing

import winops.terms.RowOperation
import winops.window.changes.RowOutcome

/** A simple implementation of one group of rows with a primary key: a list of rows, checked at
  * every millisecond. It shares no code with the machine.
  *
  * @param text
  *   the policy, one of [[NaiveKeyedWindow.texts]]
  */
final class NaiveKeyedWindow(text: String) {
  import NaiveKeyedWindow._

  private var held = Vector.empty[Held]
  private var now = Option.empty[Long]
  private var entered = 0L
  private var steps = 0L
  private var changes = 0L
  private var emitted = Vector.empty[KeyedChange]

  def isAlive: Boolean = entered > 0
  def size: Int = held.size

  /** The tags of the contents in the order of the window. */
  def content: Seq[Int] = inOrder.map(_.row.tag)

  def feed(input: KeyedRow): (Seq[KeyedChange], Int) = {
    emitted = Vector.empty
    val before = now
    advanceTo(input.at)
    val there = held.find(_.row.k == input.k)
    val outcome = (input.operation, there) match {
      case (RowOperation.Insert, Some(_)) => RowOutcome.KeyHeld
      case (RowOperation.Update | RowOperation.Delete, None) => RowOutcome.NotHeld
      case (_, None) =>
        insert(input)
        RowOutcome.Inserted
      case (RowOperation.Delete, Some(row)) =>
        step(Seq(("delete", row, "deleted")))
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
    val twin =
      if (text.contains("(u") && row.row.u != input.u) {
        held.filter(one => one != row && one.row.u == input.u).map(("delete", _, "replaced"))
      } else Nil
    step(Seq(("update_before", row, "updated"), ("update_after", after, "updated")) ++ twin)
  }

  private def inOrder: Vector[Held] =
    if (text.startsWith("#sort") || text.startsWith("#rank")) sorted(held) else held

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
}
