package winops.storage.btree

import java.util.Arrays

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}

/** A sorted map, stored as a tree of pages; keys compare as unsigned bytes. A change costs time
  * logarithmic in the size. A small map is one page and is stored with its group.
  *
  * Keys that are inserted in order fill their pages. A sparse page is merged with a neighbour if
  * both fit into one; an empty page is freed.
  *
  * The map has one cursor. [[first]], [[last]], [[atLeast]], [[next]] and similar methods move
  * the cursor and return true if an entry is at its new place. A change of the map invalidates
  * the cursor. The map copies the arrays that it takes and returns.
  */
final class PagedMap private[storage] (pages: Pages) {
  import PagedMap._

  // Null until the page is read on demand; until then only its number is known.
  private var root = new Page(Page.Inline, isLeaf = true)
  private var rootNumber = Page.Inline
  private var entries = 0L

  private val path = new Array[Page](MaxDepth)
  private val places = new Array[Int](MaxDepth)
  private var depth = 0

  /** True if the pages at the cursor are no longer those of the map, which was unloaded. */
  private var isDetached = false

  /** Number of entries. */
  def size: Long = entries

  /** The key at the cursor. */
  def key: Array[Byte] = path(depth).key(places(depth))

  /** Returns true if the key at the cursor is less than `key`. */
  def isBefore(key: Array[Byte]): Boolean = path(depth).isBefore(places(depth), key)

  /** The value at the cursor. */
  def value: Array[Byte] = path(depth).value(places(depth))

  /** The array that holds the value at the cursor. The value stays in the array until its key is
    * removed or gets another value.
    */
  private[storage] def valueBytes: Array[Byte] = path(depth).bytes
  private[storage] def valueAt: Int = path(depth).valueAt(places(depth))
  private[storage] def valueLength: Int = path(depth).valueLength(places(depth))

  /** The value of a key, or null. */
  def get(key: Array[Byte]): Array[Byte] = if (contains(key)) value else null

  /** Returns true if the map contains the key, and moves the cursor to it. */
  def contains(key: Array[Byte]): Boolean = {
    pages.makeRoom()
    find(key)
  }

  /** Sets the value of a key, and returns the previous value or null. */
  def put(key: Array[Byte], value: Array[Byte]): Array[Byte] =
    if (contains(key)) {
      val previous = this.value
      path(depth).replace(places(depth), value)
      pages.noteGrowth(value.length.toLong)
      changed()
      previous
    } else {
      path(depth).insert(places(depth), key, value)
      inserted(key.length, value.length)
      null
    }

  /** Adds a key that is greater than all others, without its value, and moves the cursor to it.
    * The caller writes the value to [[valueBytes]].
    */
  private[storage] def append(key: Array[Byte], valueLength: Int): Unit = {
    pages.makeRoom()
    goToLast()
    places(depth) += 1
    path(depth).insert(places(depth), key, valueLength)
    inserted(key.length, valueLength)
    if (!isHere) goToLast()
  }

  /** Removes a key; returns false if the map does not contain the key. */
  def remove(key: Array[Byte]): Boolean = {
    val isThere = contains(key)
    if (isThere) remove()
    isThere
  }

  /** Removes the entry at the cursor. */
  def remove(): Unit = {
    if (isDetached) attach()
    path(depth).remove(places(depth))
    entries -= 1
    pages.noteChange()
    if (depth > 0 && path(depth).isSparse(pages.pageSize)) shrink(depth)
    else if (depth == 0 && entries == 0 && root.number != Page.Inline) {
      pages.free(root)
      root = new Page(Page.Inline, isLeaf = true)
      path(0) = root
    }
  }

  /** Moves the cursor to the first key. */
  def first(): Boolean = {
    pages.makeRoom()
    goToTop()
    goToFirst()
    isHere
  }

  /** Moves the cursor to the last key. */
  def last(): Boolean = {
    pages.makeRoom()
    goToLast()
    places(depth) >= 0
  }

  /** Moves the cursor to the first key that is not less than `key`. */
  def atLeast(key: Array[Byte]): Boolean = contains(key) || isHere || forward()

  /** Moves the cursor to the first key that is greater than `key`. */
  def above(key: Array[Byte]): Boolean = if (contains(key)) stepOn() else isHere || forward()

  /** Moves the cursor to the last key that is less than `key`. */
  def below(key: Array[Byte]): Boolean = {
    val _ = contains(key)
    stepBack()
  }

  /** Moves the cursor to the next key. */
  def next(): Boolean = {
    pages.makeRoom()
    if (isDetached) attach()
    stepOn()
  }

  /** Moves the cursor to the previous key. */
  def previous(): Boolean = {
    pages.makeRoom()
    if (isDetached) attach()
    stepBack()
  }

  /** Empties the map and frees its pages. */
  def clear(): Unit = if (entries > 0) {
    free(top, 0)
    startAfresh()
  }

  /** Starts as the empty map of the next group, whose pages are not loaded. */
  private[storage] def startAfresh(): Unit = if (entries > 0) {
    root = new Page(Page.Inline, isLeaf = true)
    entries = 0L
    isDetached = false
    depth = 0
    Arrays.fill(path.asInstanceOf[Array[AnyRef]], null)
  }

  /** Forgets the loaded pages, which [[Pages]] has stored. The entry at the cursor stays
    * readable.
    */
  private[storage] def unload(): Unit = if (root != null && root.number != Page.Inline) {
    rootNumber = root.number
    root = null
    isDetached = true
    // Only the page at the cursor stays on the heap; an inner page has its loaded children.
    val (page, place) = (path(depth), places(depth))
    Arrays.fill(path.asInstanceOf[Array[AnyRef]], null)
    depth = 0
    path(0) = page
    places(0) = place
  }

  /** Writes the number of entries and the root. The caller calls [[Pages.save]] first. */
  def save(out: ByteWriter): Unit = {
    val number = if (root == null) rootNumber else root.number
    if (number == Page.Inline) {
      out.number(-1 - entries)
      if (entries > 0) PackedPage.writeEntries(root, out)
    } else {
      out.number(entries)
      out.number(number)
    }
  }

  /** Reads the number of entries and the root. The caller calls [[Pages.restore]] first. */
  def restore(in: ByteReader): Unit = {
    val number = in.number()
    if (number < 0) restoreInline(-1 - number, in)
    else {
      entries = number
      rootNumber = in.count(Long.MaxValue)
      if (entries == 0 || rootNumber == Page.Inline) {
        throw new CorruptStateException(s"a map of $entries entries has page $rootNumber")
      }
      root = null
    }
  }

  private def restoreInline(count: Long, in: ByteReader): Unit = {
    if (count > Page.MaxEntries) {
      throw new CorruptStateException(s"a map of $count entries has one page")
    }
    entries = count
    if (count == 0) root = new Page(Page.Inline, isLeaf = true)
    else root = PackedPage.readEntries(Page.Inline, isLeaf = true, count.toInt, in)
  }

  private def top: Page = {
    if (root == null) root = pages.page(rootNumber)
    root
  }

  /** Moves the cursor to the key, or to the place in a leaf at which the key would be inserted.
    */
  private def find(key: Array[Byte]): Boolean = {
    goToTop()
    while (!path(depth).isLeaf) goBelow(path(depth).childIndexOf(key))
    val found = path(depth).search(key)
    places(depth) = if (found >= 0) found else -1 - found
    found >= 0
  }

  private def isHere: Boolean = places(depth) < path(depth).count

  private def stepOn(): Boolean = {
    places(depth) += 1
    isHere || forward()
  }

  private def stepBack(): Boolean = {
    places(depth) -= 1
    places(depth) >= 0 || backward()
  }

  private def attach(): Unit = {
    val _ = find(key)
  }

  private def goToTop(): Unit = {
    isDetached = false
    depth = 0
    path(0) = top
  }

  /** Moves the cursor to a child of the current page. */
  private def goBelow(place: Int): Unit = {
    if (depth + 1 == MaxDepth) throw new CorruptStateException("a map is too deep")
    places(depth) = place
    path(depth + 1) = path(depth).below(place, pages)
    depth += 1
  }

  /** Moves the cursor to the first place below the current page. */
  private def goToFirst(): Unit = {
    while (!path(depth).isLeaf) goBelow(0)
    places(depth) = 0
  }

  /** Moves the cursor to the last place below the current page. */
  private def goToLastBelow(): Unit = {
    while (!path(depth).isLeaf) goBelow(path(depth).count - 1)
    places(depth) = path(depth).count - 1
  }

  private def goToLast(): Unit = {
    goToTop()
    goToLastBelow()
  }

  private def inserted(keyLength: Int, valueLength: Int): Unit = {
    entries += 1
    // A page may have as much free room as it has entries.
    pages.noteGrowth(2 * PageEntries.sizeOf(keyLength, valueLength))
    changed()
  }

  /** Splits the page at the cursor, which has changed, if it is too large. */
  private def changed(): Unit = {
    pages.noteChange()
    if (path(depth).isTooLarge(pages.pageSize)) split(depth, places(depth))
  }

  /** Moves the cursor to the first place in the next leaf, if there is one. */
  private def forward(): Boolean = {
    var level = depth - 1
    while (level >= 0 && places(level) + 1 >= path(level).count) level -= 1
    level >= 0 && {
      depth = level
      goBelow(places(level) + 1)
      goToFirst()
      isHere
    }
  }

  private def backward(): Boolean = {
    var level = depth - 1
    while (level >= 0 && places(level) == 0) level -= 1
    level >= 0 && {
      depth = level
      goBelow(places(level) - 1)
      goToLastBelow()
      places(depth) >= 0
    }
  }

  private def split(level: Int, inserted: Int): Unit = {
    val page = path(level)
    val right = pages.create(page.isLeaf)
    page.move(page.cut(inserted), right)
    if (level == 0) {
      // The only page of a small map has no number yet.
      val left = if (page.number == Page.Inline) renumbered(page) else page
      root = pages.create(isLeaf = false)
      root.insert(0, Array.emptyByteArray, left.number)
      root.insert(1, right.key(0), right.number)
    } else {
      val parent = path(level - 1)
      val place = places(level - 1) + 1
      parent.insert(place, right.key(0), right.number)
      if (parent.isTooLarge(pages.pageSize)) split(level - 1, place)
    }
  }

  private def renumbered(page: Page): Page = {
    val copy = pages.create(page.isLeaf)
    page.move(0, copy)
    copy
  }

  /** Merges a sparse page with a neighbour, or frees the page if it is empty. */
  private def shrink(level: Int): Unit = {
    val page = path(level)
    val parent = path(level - 1)
    val place = places(level - 1)
    if (page.count == 0) {
      parent.remove(place)
      pages.free(page)
    } else if (place + 1 < parent.count && page.fitsWith(
        parent.below(place + 1, pages),
        pages.pageSize)) {
      merge(parent, place, page, parent.below(place + 1, pages))
    } else if (place > 0 && page.fitsWith(parent.below(place - 1, pages), pages.pageSize)) {
      merge(parent, place - 1, parent.below(place - 1, pages), page)
    }
    if (level > 1 && parent.isSparse(pages.pageSize)) shrink(level - 1)
    else if (level == 1) lower()
  }

  private def merge(parent: Page, place: Int, left: Page, right: Page): Unit = {
    // The first key of an inner page may be any lower bound; the parent has the true one.
    val known = parent.key(place + 1)
    if (right.isLeaf) right.move(0, left)
    else {
      left.insert(left.count, known, right.child(0))
      right.remove(0)
      right.move(0, left)
    }
    parent.remove(place + 1)
    pages.free(right)
  }

  /** Replaces a root with one child by the child, and a root without children by a leaf. */
  private def lower(): Unit = {
    while (!root.isLeaf && root.count == 1) {
      val below = root.below(0, pages)
      pages.free(root)
      root = below
    }
    if (!root.isLeaf && root.count == 0) {
      pages.free(root)
      root = new Page(Page.Inline, isLeaf = true)
    } else if (root.isLeaf && root.number != Page.Inline) {
      val small = new Page(Page.Inline, isLeaf = true)
      root.move(0, small)
      pages.free(root)
      root = small
    }
  }

  private def free(page: Page, level: Int): Unit = {
    if (level == MaxDepth) throw new CorruptStateException("a map is too deep")
    if (!page.isLeaf) {
      var i = 0
      while (i < page.count) {
        free(page.below(i, pages), level + 1)
        page.forgetBelow(i)
        i += 1
      }
    }
    if (page.number != Page.Inline) pages.free(page)
  }
}

object PagedMap {
  private val MaxDepth = 24
}
