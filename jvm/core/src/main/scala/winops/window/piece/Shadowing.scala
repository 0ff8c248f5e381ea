package winops.window.piece

import scala.collection.mutable

import winops.storage.btree.PagedMap
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.terms.{Purpose, RowExpression, Wording}
import winops.window.changes.{ChangeQueue, ChangeReason}
import winops.window.contents.WindowContext.Make
import winops.window.expression.{RowKey, WindowView}
import winops.window.rules.{Ordinals, Part}

/** By arrival. Of the rows of a key only the newest is visible. The older rows count towards the
  * bound, but never become visible again.
  */
final case class Shadowing(keys: Seq[RowExpression]) extends Order {
  override def reads: Seq[(Purpose, RowExpression)] = keys.map(Purpose.Key -> _)
  override def replaces: Boolean = true
  override def evictsOldestFirst: Boolean = true
  override def words: String = s"of each ${Wording.listed(keys)} only the newest row is visible"
  override def keptOf(admit: Admit): String = "every row"
  override def criteria: Option[String] = None
  override def clause(bound: Bound): Option[String] = Some(words)
  override private[window] def part(bound: Bound): Option[Make[Part]] = None

  override private[window] def shadows: Option[Make[Shadows]] =
    Some(context => new Shadows(context.evaluator.key(keys), context.newIndex()))
}

/** The visible row of each key: the newest row of the key in the window. Older rows of the key
  * are shadowed.
  */
private[window] final class Shadows(key: RowKey, newest: PagedMap) {
  private val leaving = mutable.ArrayBuffer.empty[Long]

  /** Returns true if the row is visible. */
  def isSeen(row: Long): Boolean = Ordinals.get(newest.get(key.of(row))) == row

  /** Inserts the rows that become visible with a change, then deletes the rows that were visible
    * and no longer are.
    *
    * @param head
    *   the oldest row before the change
    * @param entered
    *   the ordinal after the newest row before the change
    * @param displaced
    *   the ordinal after the newest row that is one too many
    * @param staying
    *   the oldest row after the change
    * @param end
    *   the ordinal after the newest row after the change
    * @param reason
    *   the [[ChangeReason]] of inserts
    * @return
    *   number of inserted rows
    */
  def change(
      head: Long,
      entered: Long,
      displaced: Long,
      staying: Long,
      end: Long,
      reason: Int,
      changes: ChangeQueue): Long = {
    leaving.clear()
    var row = head
    while (row < Math.min(staying, entered)) {
      if (isSeen(row)) {
        leaving += row
        newest.remove(key.of(row))
      }
      row += 1
    }
    row = Math.max(entered, staying)
    while (row < end) {
      val of = key.of(row)
      val shadowed = Ordinals.get(newest.get(of))
      if (shadowed != WindowView.NoRow && shadowed < entered) leaving += shadowed
      newest.put(of, Ordinals.bytes(row))
      row += 1
    }
    row = Math.max(entered, staying)
    var inserted = 0L
    while (row < end) {
      if (isSeen(row)) {
        changes.insert(row, row + 1, reason)
        inserted += 1
      }
      row += 1
    }
    leaving.sortInPlace()
    leaving.foreach { row =>
      val why =
        if (row < displaced) ChangeReason.Displaced
        else if (row < staying) ChangeReason.Expired
        else ChangeReason.Replaced
      changes.delete(row, row + 1, why)
    }
    inserted
  }

  def clear(): Unit = newest.clear()
  def save(out: ByteWriter): Unit = newest.save(out)
  def restore(in: ByteReader): Unit = newest.restore(in)
}
