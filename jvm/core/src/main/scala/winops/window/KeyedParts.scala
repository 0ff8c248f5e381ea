package winops.window

import java.util.Arrays

import scala.collection.mutable

import winops.log.{ByteReader, ByteWriter, Bytes, PagedMap}
import winops.policy.Span

// Windows that find their rows by what is in them.

/** A window with an index of its own over its rows. */
private[window] abstract class IndexedPart(index: PagedMap) extends Part {
  override def clear(): Unit = index.clear()
  override def save(out: ByteWriter): Unit = index.save(out)
  override def restore(in: ByteReader): Unit = index.restore(in)
}

/** One row for each key: the first, or the newest. */
private[window] abstract class OneForEachPart(key: RowKey, index: PagedMap)
    extends IndexedPart(index) {
  protected final def rowLike(row: Long): Long = Ordinals.get(index.get(key.of(row)))

  /** Puts the row in the place of the previous one of its key, which is returned. */
  protected final def put(row: Long): Long =
    Ordinals.get(index.put(key.of(row), Ordinals.bytes(row)))

  override def holds(row: Long): Boolean = rowLike(row) == row
  override def forget(row: Long): Unit = if (holds(row)) index.remove(key.of(row))
}

/** A row takes the place of the previous row of its key. */
private final class NewestOfEachPart(key: RowKey, index: PagedMap)
    extends OneForEachPart(key, index) {
  override def arrive(row: Long, at: Long, letGo: LetGo): Unit = {
    val previous = put(row)
    if (previous != WindowView.NoRow) letGo.add(previous)
  }
}

/** The first row of each key keeps its place as long as it stays. */
private final class FirstOfEachPart(key: RowKey, index: PagedMap)
    extends OneForEachPart(key, index) {
  override def admits(row: Long, at: Long): Boolean = rowLike(row) == WindowView.NoRow
  override def arrive(row: Long, at: Long, letGo: LetGo): Unit = {
    val _ = put(row)
  }
}

/** The best rows by a sort key; of equal ones the newest. */
private final class BestPart(rows: Long, sortKey: RowKey, index: PagedMap)
    extends IndexedPart(index) {
  override def arrive(row: Long, at: Long, letGo: LetGo): Unit = {
    val arriving = place(row)
    if (index.size == rows && isBehindAll(arriving)) letGo.add(row)
    else {
      index.put(arriving, NoBytes)
      if (index.size > rows) {
        index.last()
        letGo.add(rowAt(index.key))
        index.remove()
      }
    }
  }

  override def forget(row: Long): Unit = index.remove(place(row))
  override def holds(row: Long): Boolean = index.contains(place(row))

  override def inOrder: mutable.ArrayBuffer[Long] =
    Ordinals.all(index, rowAt)

  private def isBehindAll(place: Array[Byte]): Boolean =
    index.last() && index.isBefore(place)

  private def rowAt(place: Array[Byte]): Long = Long.MaxValue - Ordinals.getLast(place)

  // The newer of equal rows comes first, so that the last place is the oldest of the worst.
  private def place(row: Long): Array[Byte] =
    Ordinals.append(sortKey.of(row), Long.MaxValue - row)

  private val NoBytes = Array.emptyByteArray
}

/** As [[BestPart]], and a row takes the place of the previous row of its key. */
private final class RankedPart(newest: NewestOfEachPart, best: BestPart) extends Part {
  private val replaced = new LetGo(byLast = false)

  override def arrive(row: Long, at: Long, letGo: LetGo): Unit = {
    replaced.clear()
    newest.arrive(row, at, replaced)
    var i = 0
    while (i < replaced.size) {
      letGo.add(replaced(i))
      best.forget(replaced(i))
      i += 1
    }
    val before = letGo.size
    best.arrive(row, at, letGo)
    if (letGo.size > before) newest.forget(letGo(before))
  }

  override def forget(row: Long): Unit = {
    best.forget(row)
    newest.forget(row)
  }

  override def holds(row: Long): Boolean = best.holds(row)
  override def inOrder: mutable.ArrayBuffer[Long] = best.inOrder

  override def clear(): Unit = {
    newest.clear()
    best.clear()
  }

  override def save(out: ByteWriter): Unit = {
    newest.save(out)
    best.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    newest.restore(in)
    best.restore(in)
  }
}

/** Each row leaves when the span after its own timestamp is over. */
private final class DeadlinePart(timestamp: RowNumber, span: Span, index: PagedMap)
    extends IndexedPart(index) {
  override def lacksValue(row: Long): Boolean = timestamp.isMissing(row)

  override def arrive(row: Long, at: Long, letGo: LetGo): Unit =
    if (span.after(timestamp.whole(row)) <= at) letGo.add(row)
    else index.put(place(row), Array.emptyByteArray)

  override def due: Long =
    if (index.size == 0) Clock.Never
    else {
      index.first()
      dueOf(index.key)
    }

  override def atDue(due: Long, letGo: LetGo): Unit = {
    while (index.size > 0 && { index.first(); dueOf(index.key) <= due }) {
      letGo.add(Ordinals.getLast(index.key))
      index.remove()
    }
  }

  override def forget(row: Long): Unit = index.remove(place(row))
  override def holds(row: Long): Boolean = index.contains(place(row))

  override def inOrder: mutable.ArrayBuffer[Long] = Ordinals.all(index, Ordinals.getLast)

  private def dueOf(place: Array[Byte]): Long = span.after(Ordinals.get(place) ^ Long.MinValue)

  private def place(row: Long): Array[Byte] =
    Ordinals.append(Ordinals.bytes(timestamp.whole(row) ^ Long.MinValue), row)
}

/** Numbers as bytes that compare as the numbers do, when those are not negative. */
private[window] object Ordinals {
  def bytes(number: Long): Array[Byte] = append(Array.emptyByteArray, number)

  /** The bytes and after them the number. */
  def append(front: Array[Byte], number: Long): Array[Byte] = {
    val bytes = Arrays.copyOf(front, front.length + java.lang.Long.BYTES)
    Bytes.putLong(bytes, front.length, java.lang.Long.reverseBytes(number))
    bytes
  }

  /** The number that the bytes begin with; [[WindowView.NoRow]] when there are none. */
  def get(bytes: Array[Byte]): Long =
    if (bytes == null) WindowView.NoRow else at(bytes, 0)

  /** The number that the bytes end with. */
  def getLast(bytes: Array[Byte]): Long = at(bytes, bytes.length - java.lang.Long.BYTES)

  /** The rows of all entries, in order. */
  def all(index: PagedMap, row: Array[Byte] => Long): mutable.ArrayBuffer[Long] = {
    val rows = mutable.ArrayBuffer.empty[Long]
    var more = index.first()
    while (more) {
      rows += row(index.key)
      more = index.next()
    }
    rows
  }

  private def at(bytes: Array[Byte], place: Int): Long = {
    if (place < 0 || bytes.length - place < java.lang.Long.BYTES) {
      throw new winops.log.CorruptStateException("a stored index entry is too short")
    }
    java.lang.Long.reverseBytes(Bytes.getLong(bytes, place))
  }
}
