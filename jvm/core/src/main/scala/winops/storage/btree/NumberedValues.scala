package winops.storage.btree

import scala.collection.mutable

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, Segments}

/** Stores short values of one group by level and number, with [[NumberedValues.InEntry]]
  * neighbours of a level in an entry. A change writes one entry, so its cost does not depend on
  * the number of values. Values are removed in the order of their numbers.
  *
  * No directory of the entries is stored: after a restore the caller says which entries may
  * exist, by [[expect]].
  */
final class NumberedValues private[storage] (segments: Segments, pages: Pages)
    extends PagesBeside {
  import NumberedValues._

  /** The entries in memory, by level and number. */
  private val loaded = mutable.LongMap.empty[Entry]
  private val freed = mutable.Set.empty[Long]
  private val writer = new ByteWriter

  /** For each level, the numbers of the first entry that may exist, of the end of these entries,
    * and of the end of those that may be in the store.
    */
  private val first = new Array[Long](Levels)
  private val end = new Array[Long](Levels)
  private val storedEnd = new Array[Long](Levels)

  /** The highest level that may have an entry, or -1. */
  def highestLevel: Int = {
    var level = Levels - 1
    while (level >= 0 && end(level) == 0L) level -= 1
    level
  }

  /** Says after a restore that the values with numbers from `from` to `last` may be stored. */
  def expect(level: Int, from: Long, last: Long): Unit = {
    first(level) = from / InEntry
    end(level) = Math.max(first(level), last / InEntry + 1)
    storedEnd(level) = end(level)
  }

  /** The value with a number, or null. */
  def get(level: Int, number: Long): Array[Byte] = {
    pages.makeRoom()
    val entry = find(level, number / InEntry)
    if (entry == null) null else entry.values((number % InEntry).toInt)
  }

  /** Sets the value with a number, which has no value or another one. */
  def put(level: Int, number: Long, value: Array[Byte]): Unit = {
    pages.makeRoom()
    val at = number / InEntry
    val known = find(level, at)
    val entry = if (known == null) new Entry else known
    if (known == null) {
      val key = keyOf(level, at)
      // The entry replaces one that was removed in this micro-batch.
      entry.isStored = freed.remove(key)
      loaded.update(key, entry)
      pages.noteGrowth(entry.heapBytes)
      val isFirst = first(level) >= end(level)
      first(level) = if (isFirst) at else Math.min(first(level), at)
      end(level) = if (isFirst) at + 1 else Math.max(end(level), at + 1)
    }
    entry.values((number % InEntry).toInt) = value
    entry.isDirty = true
    pages.noteGrowth(value.length.toLong)
  }

  /** Removes the values with numbers below `number`, which are not read any more. */
  def removeBefore(level: Int, number: Long): Unit = {
    val at = number / InEntry
    val stop = Math.min(at, end(level))
    while (first(level) < stop) {
      removeEntry(level, first(level))
      first(level) += 1
    }
    val rest = loaded.getOrNull(keyOf(level, at))
    if (rest != null) java.util.Arrays.fill(rest.erased, 0, (number % InEntry).toInt, null)
  }

  /** Removes all values of a level. */
  def clear(level: Int): Unit = {
    while (first(level) < end(level)) {
      removeEntry(level, first(level))
      first(level) += 1
    }
    forget(level)
  }

  /** Removes all values. */
  override def clear(): Unit = {
    var level = 0
    while (level < Levels) {
      clear(level)
      level += 1
    }
  }

  /** Starts with the next group, which has no values. */
  override private[storage] def startAfresh(): Unit = {
    if (loaded.nonEmpty) loaded.clear()
    freed.clear()
    (0 until Levels).foreach(forget)
  }

  /** About the number of bytes on the heap of the entries in memory. */
  override private[btree] def heapBytes: Long = {
    var bytes = 0L
    loaded.foreachValue(bytes += _.heapBytes)
    bytes
  }

  override private[btree] def areLoaded: Boolean = loaded.nonEmpty

  /** Writes the changed entries and forgets all that are in memory. */
  override private[btree] def unload(): Unit = {
    store()
    loaded.clear()
    Array.copy(end, 0, storedEnd, 0, Levels)
  }

  /** Writes the changed entries. */
  override private[storage] def store(): Unit = {
    freed.foreach(segments.remove)
    freed.clear()
    loaded.foreach { case (key, entry) =>
      if (entry.isDirty && entry.write(writer)) {
        segments.put(key, writer.toArray)
        entry.isStored = true
      } else if (entry.isDirty && entry.isStored) {
        segments.remove(key)
        entry.isStored = false
      }
      entry.isDirty = false
    }
  }

  private def forget(level: Int): Unit = {
    first(level) = 0L
    end(level) = 0L
    storedEnd(level) = 0L
  }

  private def find(level: Int, at: Long): Entry =
    if (at < first(level) || at >= end(level)) null
    else {
      val known = loaded.getOrNull(keyOf(level, at))
      val isStored = at < storedEnd(level) && !freed.contains(keyOf(level, at))
      if (known != null || !isStored) known else load(keyOf(level, at))
    }

  private def load(key: Long): Entry = {
    val entry = new Entry
    val bytes = segments.get(key)
    if (bytes != null) entry.read(bytes)
    loaded.update(key, entry)
    pages.noteGrowth(entry.heapBytes)
    entry
  }

  private def removeEntry(level: Int, at: Long): Unit = {
    val key = keyOf(level, at)
    val known = loaded.remove(key)
    if (known.fold(at < storedEnd(level))(_.isStored)) freed += key
  }
}

private[storage] object NumberedValues {

  /** The number of values in an entry. */
  val InEntry = 16

  /** The number of levels. */
  val Levels = 16

  /** About the number of bytes on the heap of an entry and of its values' headers. */
  private val EntryBytes = 512L

  private val Version = 1
  private val BitsOfNumber = 44
  private val BitsOfMap = 48

  /** The number of the first entry, above those of pages. Its bit marks keys with a short hash.
    */
  private val FirstEntry = 1L << 56

  /** The number of the first entry of one of several instances that share segments. */
  def firstEntry(instance: Int): Long = FirstEntry + (instance.toLong << BitsOfMap)

  private def keyOf(level: Int, at: Long): Long = level.toLong << BitsOfNumber | at

  /** Values with neighbouring numbers; null where there is none. */
  private final class Entry {
    val values = new Array[Array[Byte]](InEntry)
    var isDirty = false
    var isStored = false

    /** About the number of bytes on the heap. */
    def heapBytes: Long = {
      var bytes = EntryBytes
      var i = 0
      while (i < InEntry) {
        if (values(i) != null) bytes += values(i).length
        i += 1
      }
      bytes
    }

    /** The values as an array of objects. */
    def erased: Array[AnyRef] = values.asInstanceOf[Array[AnyRef]]

    /** Writes the values; returns false if there is none. */
    def write(out: ByteWriter): Boolean = {
      out.clear()
      out.byte(Version)
      var there = 0L
      var i = 0
      while (i < InEntry) {
        if (values(i) != null) there |= 1L << i
        i += 1
      }
      out.number(there)
      i = 0
      while (i < InEntry) {
        if (values(i) != null) out.packed(values(i))
        i += 1
      }
      there != 0L
    }

    def read(bytes: Array[Byte]): Unit = {
      val in = new ByteReader(bytes)
      if (in.byte() != Version) {
        throw new CorruptStateException("an entry of values has another version")
      }
      val there = in.count((1L << InEntry) - 1)
      var i = 0
      while (i < InEntry) {
        if ((there >> i & 1L) == 1L) values(i) = in.packed()
        i += 1
      }
      in.finish()
      isStored = true
    }
  }
}
