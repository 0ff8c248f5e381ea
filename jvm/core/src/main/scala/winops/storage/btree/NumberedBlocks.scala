package winops.storage.btree

import scala.collection.mutable

import winops.storage.bytes.{CorruptStateException, Segments}

/** Stores blocks of bytes of one group by number, each in an entry of its own. A block is written
  * once and removed as a whole. The numbers that have one are a range.
  */
final class NumberedBlocks private[storage] (segments: Segments, pages: Pages)
    extends PagesBeside {
  private val loaded = mutable.LongMap.empty[Array[Byte]]
  private val unwritten = mutable.Set.empty[Long]
  private val freed = mutable.Set.empty[Long]

  private var from = 0L
  private var until = 0L

  /** The number of the first block, and that of the next one. */
  def first: Long = from
  def end: Long = until

  /** Says after a restore that the blocks from `first` until `end` are stored. */
  def expect(first: Long, end: Long): Unit = {
    from = first
    until = end
  }

  /** The block with a number.
    *
    * @throws CorruptStateException
    *   if it is not stored
    */
  def get(number: Long): Array[Byte] = {
    pages.makeRoom()
    val known = loaded.getOrNull(number)
    if (known != null) known
    else {
      val bytes = segments.get(number)
      if (bytes == null) throw new CorruptStateException(s"block $number is missing")
      keep(number, bytes)
      bytes
    }
  }

  /** Stores a block under the next number. */
  def append(bytes: Array[Byte]): Unit = {
    pages.makeRoom()
    keep(until, bytes)
    unwritten += until
    until += 1
  }

  /** Removes the blocks with numbers below `number`. */
  def removeBefore(number: Long): Unit = while (from < number) {
    val _ = loaded.remove(from)
    if (!unwritten.remove(from)) freed += from
    from += 1
  }

  override def clear(): Unit = removeBefore(until)

  override private[storage] def startAfresh(): Unit = {
    if (loaded.nonEmpty) loaded.clear()
    unwritten.clear()
    freed.clear()
    expect(0L, 0L)
  }

  override private[btree] def heapBytes: Long = {
    var bytes = 0L
    loaded.foreachValue(bytes += NumberedBlocks.HeaderBytes + _.length)
    bytes
  }

  override private[btree] def areLoaded: Boolean = loaded.nonEmpty

  override private[btree] def unload(): Unit = {
    store()
    loaded.clear()
  }

  override private[storage] def store(): Unit = {
    freed.foreach(segments.remove)
    freed.clear()
    unwritten.foreach(number => segments.put(number, loaded(number)))
    unwritten.clear()
  }

  private def keep(number: Long, bytes: Array[Byte]): Unit = {
    loaded.update(number, bytes)
    pages.noteGrowth(NumberedBlocks.HeaderBytes + bytes.length)
  }
}

private[storage] object NumberedBlocks {

  /** The number of the first block, above those of [[NumberedValues]], whose bit it has too. */
  val FirstBlock: Long = 1L << 57 | 1L << 56

  /** About the number of bytes on the heap of a block beside its own. */
  private val HeaderBytes = 64L
}
