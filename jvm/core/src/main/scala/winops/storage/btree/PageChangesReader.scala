package winops.storage.btree

import winops.storage.bytes.{ByteReader, CorruptStateException}

/** Reads the changes of a page that a [[PageChangesWriter]] wrote.
  *
  * @param page
  *   the page as it was stored, which is not used any more
  */
private final class PageChangesReader(page: Page, in: ByteReader) {
  import PageChanges._

  private val base = page.base
  private val changed = page.emptied
  private val removed = new Array[Int](base.count)
  private var removals = 0

  /** The base's next entry. */
  private var next = 0

  /** The page with its changes.
    *
    * @throws CorruptStateException
    *   if the bytes are not changes of the page
    */
  def read(): Page = {
    if (in.byte() != Version) corrupt("are of another version")
    if (in.number() != base.bytes) corrupt("are of another page")
    base.times = in.count(Int.MaxValue.toLong).toInt
    if (base.times == 0) corrupt("were never stored")
    var left = in.count(in.remaining.toLong)
    while (left > 0) {
      readOperation()
      left -= 1
    }
    in.finish()
    keepUntil(base.count)
    // Only now, because forgotten entries may lose their places when the array grows.
    (0 until removals).foreach(i => changed.stored.forget(removed(i)))
    if (!changed.isLeaf && changed.count == 0) corrupt("leave it empty")
    changed.checkOrder()
    changed.isDirty = false
    changed
  }

  private def readOperation(): Unit = {
    val head = in.byte() & 0xff
    val stay = head >>> Bits
    keepUntil(next + (if (stay == ManyStay) in.count(base.count.toLong).toInt else stay))
    (head & (1 << Bits) - 1) match {
      case Remove => remove()
      case Replace =>
        val entry = base.places(remove())
        val stored = page.stored
        add(stored.keyLength(entry), stored.valueLength(entry), entry, base.child(next - 1))
      case InsertAlike =>
        if (changed.count == 0) corrupt("begin with an entry like none")
        val last = changed.count - 1
        insert(changed.keyLength(last), changed.valueLength(last))
      case _ =>
        val keyLength = PackedPage.readLength(in)
        insert(keyLength, if (changed.isLeaf) PackedPage.readLength(in) else 0)
    }
  }

  private def keepUntil(end: Int): Unit = {
    if (end > base.count) corrupt("are out of range")
    while (next < end) {
      append(base.places(next), base.child(next))
      next += 1
    }
  }

  /** Removes the base's next entry and returns its number. */
  private def remove(): Int = {
    if (next == base.count) corrupt("are out of range")
    removed(removals) = base.places(next)
    removals += 1
    next += 1
    next - 1
  }

  private def insert(keyLength: Int, valueLength: Int): Unit = {
    val other =
      if (changed.count == 0) PageEntries.None else changed.place(changed.count - 1)
    val entry = page.stored.read(keyLength, valueLength, other, in)
    append(entry, if (changed.isLeaf) 0L else in.count(Long.MaxValue))
  }

  private def add(keyLength: Int, valueLength: Int, other: Int, child: Long): Unit =
    append(page.stored.read(keyLength, valueLength, other, in), child)

  private def append(entry: Int, child: Long): Unit = {
    if (changed.count == Page.MaxEntries) corrupt("make too many entries")
    changed.append(entry, child)
  }

  private def corrupt(what: String): Nothing =
    throw new CorruptStateException(s"the changes of page ${page.number} $what")
}
