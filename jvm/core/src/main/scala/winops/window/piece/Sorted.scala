package winops.window.piece

import scala.collection.mutable

import winops.storage.btree.PagedMap
import winops.storage.bytes.{ByteReader, ByteWriter}
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

  override private[window] def part(bound: Bound): Option[Make[Part]] = bufferedPart(bound, 0L)

  override private[window] def bufferedPart(bound: Bound, buffer: Long): Option[Make[Part]] =
    bound match {
      case MoreThan(rows) => Some(best(rows, buffer, _))
      case _ => None
    }

  private[piece] def best(rows: Long, buffer: Long, context: WindowContext): BestPart = {
    val sortKey = context.evaluator.sortKey(by)
    if (buffer == 0L) new BestPart(rows, sortKey, context.newIndex())
    else new BufferedBestPart(rows, buffer, sortKey, context.newIndex(), context.newIndex())
  }
}

/** Holds the `rows` first rows in the order of a sort key; of equal rows, the newest. */
private class BestPart(rows: Long, sortKey: RowKey, index: PagedMap) extends IndexedPart(index) {
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

  protected final def isBehindAll(place: Array[Byte]): Boolean =
    index.last() && index.isBefore(place)

  protected final def rowAt(place: Array[Byte]): Long =
    Long.MaxValue - Ordinals.getLast(place)

  // The newer of equal rows sorts first, so the last entry is the oldest of the worst rows.
  protected final def place(row: Long): Array[Byte] = place(row, row)

  /** The place of a row with the values of another one. */
  protected final def place(values: Long, row: Long): Array[Byte] =
    Ordinals.append(sortKey.of(values), Long.MaxValue - row)

  protected final val NoBytes = Array.emptyByteArray
}

/** The window of a [[BestPart]], with the next `buffer` rows of the order behind it. Between
  * steps, no row behind it is before one of the window, and there is none behind a window of
  * fewer than `rows` rows. A row of the window has its place in `index`, one behind it in
  * `behind`.
  */
private final class BufferedBestPart(
    rows: Long,
    buffer: Long,
    sortKey: RowKey,
    index: PagedMap,
    behind: PagedMap)
    extends BestPart(rows, sortKey, index) {
  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    val arriving = place(row)
    if (!enters(arriving, evicted)) moveBehind(arriving, evicted)
  }

  override def update(row: Long, values: Long, evicted: EvictedRows): Unit = {
    val wasBehind = isBehind(row)
    forget(row)
    val moved = place(values, row)
    val isIn = enters(moved, evicted)
    if (wasBehind && isIn) evicted.bringBack(row)
    else if (!wasBehind && !isIn) moveBehind(moved, evicted)
    else if (wasBehind) {
      val _ = behind.put(moved, NoBytes)
    }
  }

  override def forget(row: Long): Unit =
    if (!behind.remove(place(row))) index.remove(place(row))

  override def isBehind(row: Long): Boolean = behind.contains(place(row))
  override def refill(evicted: EvictedRows): Unit = fill(rows, evicted)

  override def clear(): Unit = {
    super.clear()
    behind.clear()
  }

  override def save(out: ByteWriter): Unit = {
    super.save(out)
    behind.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    super.restore(in)
    behind.restore(in)
  }

  /** Inserts a row into the window if it is one of the first `rows` rows of all. Otherwise it
    * belongs behind the window, and a row from there takes the free place if there is one.
    */
  private def enters(arriving: Array[Byte], evicted: EvictedRows): Boolean = {
    fill(rows - 1, evicted)
    val isFull = index.size == rows
    val isIn =
      if (isFull) !isBehindAll(arriving) else !(behind.first() && behind.isBefore(arriving))
    if (isIn) {
      index.put(arriving, NoBytes)
      if (isFull) {
        index.last()
        val last = index.key
        index.remove()
        moveBehind(last, evicted)
      }
    } else fill(rows, evicted)
    isIn
  }

  /** Lets the first rows behind the window return until it has `most` rows. */
  private def fill(most: Long, evicted: EvictedRows): Unit =
    while (index.size < most && behind.first()) {
      val first = behind.key
      behind.remove()
      index.put(first, NoBytes)
      evicted.bringBack(rowAt(first))
    }

  /** Moves a row behind the window, and drops the last of all rows if too many are there. */
  private def moveBehind(leaving: Array[Byte], evicted: EvictedRows): Unit = {
    val isLast = behind.size == buffer && behind.last() && behind.isBefore(leaving)
    if (isLast) evicted.add(rowAt(leaving), ChangeReason.Displaced)
    else {
      behind.put(leaving, NoBytes)
      evicted.addBehind(rowAt(leaving), ChangeReason.Displaced)
      if (behind.size > buffer) {
        behind.last()
        evicted.drop(rowAt(behind.key))
        behind.remove()
      }
    }
  }
}
