package winops.window.piece

import scala.collection.mutable

import winops.storage.btree.PagedMap
import winops.terms.{Purpose, RowExpression, SortKey, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.WindowContext
import winops.window.contents.WindowContext.Make
import winops.window.expression.RowKey
import winops.window.rules.{EvictedRows, IndexedPart, Ordinals, Part}

/** By sort criteria. The bound evicts rows from the end. Of equal rows the oldest is last. */
final case class Sorted(by: Seq[SortKey]) extends Order {
  override def reads: Seq[(Purpose, RowExpression)] = by.map(Purpose.SortKey -> _.expression)
  override def replaces: Boolean = false
  override def evictsOldestFirst: Boolean = false
  override def words: String = s"sorted by ${Wording.criteria(by)}"
  override def keptOf(admit: Admit): String = s"every row, $words"
  override def criteria: Option[String] = Some(Wording.criteria(by))
  override def clause(bound: Bound): Option[String] = None

  override private[window] def part(bound: Bound): Option[Make[Part]] = bound match {
    case MoreThan(rows) => Some(best(rows, _))
    case _ => None
  }

  private[piece] def best(rows: Long, context: WindowContext): BestPart =
    new BestPart(rows, context.evaluator.sortKey(by), context.newIndex())
}

/** Holds the `rows` first rows in the order of a sort key; of equal rows, the newest. */
private final class BestPart(rows: Long, sortKey: RowKey, index: PagedMap)
    extends IndexedPart(index) {
  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    val arriving = place(row)
    if (index.size == rows && isBehindAll(arriving)) evicted.add(row, ChangeReason.Displaced)
    else {
      index.put(arriving, NoBytes)
      if (index.size > rows) {
        index.last()
        evicted.add(rowAt(index.key), ChangeReason.Displaced)
        index.remove()
      }
    }
  }

  override def update(row: Long, values: Long, evicted: EvictedRows): Unit = {
    forget(row)
    val _ = index.put(place(values, row), NoBytes)
  }

  override def forget(row: Long): Unit = index.remove(place(row))
  override def holds(row: Long): Boolean = index.contains(place(row))

  override def inOrder: mutable.ArrayBuffer[Long] =
    Ordinals.all(index, rowAt)

  private def isBehindAll(place: Array[Byte]): Boolean =
    index.last() && index.isBefore(place)

  private def rowAt(place: Array[Byte]): Long = Long.MaxValue - Ordinals.getLast(place)

  // The newer of equal rows sorts first, so the last entry is the oldest of the worst rows.
  private def place(row: Long): Array[Byte] = place(row, row)

  /** The place of a row with the values of another one. */
  private def place(values: Long, row: Long): Array[Byte] =
    Ordinals.append(sortKey.of(values), Long.MaxValue - row)

  private val NoBytes = Array.emptyByteArray
}
