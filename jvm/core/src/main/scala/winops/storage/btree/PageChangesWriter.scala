package winops.storage.btree

import java.util.Arrays

import winops.storage.bytes.ByteWriter

/** Writes the changes of pages since their bases were stored. */
private final class PageChangesWriter {
  import PageChanges._

  private val operations = new ByteWriter
  private var page: Page = _
  private var base: PageBase = _

  /** The base's next entry. */
  private var next = 0

  /** Number of entries that stay since the last operation. */
  private var stay = 0
  private var count = 0
  private var removals = 0

  /** Number of entries of the base that the page written last does not have. */
  def removed: Int = removals

  /** Writes the changes of a page that has a base. */
  def write(page: Page, out: ByteWriter): Unit = {
    this.page = page
    base = page.base
    operations.clear()
    next = 0
    stay = 0
    count = 0
    removals = 0
    val isInPage = entriesInPage
    var i = 0
    while (i < page.count) {
      if (page.isOfBase(i)) {
        removeUntil(page.place(i))
        stay += 1
        next += 1
      } else writeNew(i, isInPage)
      i += 1
    }
    while (next < base.count) remove()
    out.byte(Version.toInt)
    out.number(base.bytes.toLong)
    out.number(base.times + 1L)
    out.number(count.toLong)
    operations.writeTo(out)
  }

  /** For each entry of the base, true if the page has it. */
  private def entriesInPage: Array[Boolean] = {
    val isInPage = new Array[Boolean](base.count)
    var number = 0
    var i = 0
    while (i < page.count) {
      if (page.isOfBase(i)) {
        while (base.places(number) != page.place(i)) number += 1
        isInPage(number) = true
      }
      i += 1
    }
    isInPage
  }

  private def writeNew(index: Int, isInPage: Array[Boolean]): Unit = {
    var order = -1
    while (order < 0 && next < base.count && !isInPage(next)) {
      order = compareNext(index)
      if (order < 0) remove()
    }
    if (order == 0 && isLikeNext(index)) {
      operation(Replace)
      pack(index, base.places(next))
      removals += 1
      next += 1
    } else insert(index)
  }

  private def insert(index: Int): Unit = {
    val isAlike = index > 0 && page.keyLength(index) == page.keyLength(index - 1) &&
      page.valueLength(index) == page.valueLength(index - 1)
    if (isAlike) operation(InsertAlike)
    else {
      operation(Insert)
      operations.number(page.keyLength(index).toLong)
      if (page.isLeaf) operations.number(page.valueLength(index).toLong)
    }
    pack(index, if (index == 0) PageEntries.None else page.place(index - 1))
    if (!page.isLeaf) operations.number(page.child(index))
  }

  private def removeUntil(place: Int): Unit = while (base.places(next) != place) remove()

  private def remove(): Unit = {
    operation(Remove)
    removals += 1
    next += 1
  }

  private def operation(kind: Int): Unit = {
    operations.byte(Math.min(stay, ManyStay) << Bits | kind)
    if (stay >= ManyStay) operations.number(stay.toLong)
    stay = 0
    count += 1
  }

  /** Packs an entry as its difference to the entry at another place. */
  private def pack(index: Int, other: Int): Unit =
    page.stored.write(page.place(index), other, operations)

  private def compareNext(index: Int): Int = {
    val (one, other) = (base.places(next), page.place(index))
    val stored = page.stored
    Arrays.compareUnsigned(
      stored.bytes,
      stored.keyAt(one),
      stored.valueAt(one),
      stored.bytes,
      stored.keyAt(other),
      stored.valueAt(other))
  }

  /** Returns true if an entry, which has the key of the base's next entry, may replace it. */
  private def isLikeNext(index: Int): Boolean = page.isLeaf &&
    page.valueLength(index) == page.stored.valueLength(base.places(next))
}
