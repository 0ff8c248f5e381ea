package winops.storage.btree

import scala.collection.mutable

import winops.storage.bytes.{CorruptStateException, Segments}

/** Stores blocks of bytes of one group by number, from 0 on, each in an entry of its own. The
  * last blocks may be removed, and their numbers given to others.
  */
final class NumberedBlocks private[storage] (segments: Segments, pages: Pages)
    extends PagesBeside {
  private val loaded = mutable.LongMap.empty[Array[Byte]]

  private var until = 0L

  /** The blocks before this number are stored as they are. */
  private var unchanged = 0L

  /** The number behind those that are stored. */
  private var stored = 0L

  /** The number of the next block. */
  def end: Long = until

  /** Says after a restore that so many blocks are stored. */
  def expect(count: Long): Unit = {
    until = count
    unchanged = count
    stored = count
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
    until += 1
  }

  /** Removes the blocks from a number on. */
  def truncate(number: Long): Unit = if (number < until) {
    if (loaded.nonEmpty) (number until until).foreach(loaded.remove(_))
    until = number
    unchanged = Math.min(unchanged, number)
  }

  override def clear(): Unit = truncate(0L)

  override private[storage] def startAfresh(): Unit = {
    if (loaded.nonEmpty) loaded.clear()
    expect(0L)
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
    (until until stored).foreach(segments.remove)
    (unchanged until until).foreach(number => segments.put(number, loaded(number)))
    expect(until)
  }

  private def keep(number: Long, bytes: Array[Byte]): Unit = {
    loaded.update(number, bytes)
    pages.noteGrowth(NumberedBlocks.HeaderBytes + bytes.length)
  }
}

private[storage] object NumberedBlocks {

  /** The number of block 0, above those of [[NumberedValues]], whose bit it has too: the entries
    * of these numbers have short keys. There is room for 2 ^ 56 blocks.
    */
  val FirstBlock: Long = 1L << 57 | 1L << 56

  /** About the number of bytes on the heap of a block beside its own. */
  private val HeaderBytes = 64L
}
