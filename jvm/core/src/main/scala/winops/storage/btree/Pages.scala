package winops.storage.btree

import scala.collection.mutable

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, Segments, ShiftedSegments}

/** The pages of one group's maps, read on demand and written when the group is stored, or before
  * if the memory for pages is full.
  *
  * An instance is reused from group to group: [[restore]] or [[clear]] starts the next group.
  *
  * @param memory
  *   bounds the loaded pages of all instances that share it
  */
final class Pages(segments: Segments, memory: PageMemory = new PageMemory) {
  private val maps = mutable.ArrayBuffer.empty[PagedMap]
  private val beside = mutable.ArrayBuffer.empty[PagesBeside]
  private var ofValues = 0
  private var ofBlocks = 0
  private val loaded = mutable.LongMap.empty[Page]
  private val freed = mutable.ArrayBuffer.empty[Long]
  private var stored = 0L
  private var last = 0L
  private val writer = new ByteWriter
  private val changesWriter = new PageChangesWriter

  private var changes = 0L
  private var most = PageSize.Large
  memory.add(this)

  /** The maximum size of pages. */
  private[storage] def pageSize: PageSize = most

  /** Counts a change of a map. */
  private[storage] def noteChange(): Unit = changes += 1

  /** Notes that about so many bytes were added to a page or to values. */
  private[storage] def noteGrowth(bytes: Long): Unit = memory.take(bytes)

  /** Called before an operation of a map or of values. Unloads everything if the memory for pages
    * is full; the cursors of the maps stay at their entries.
    */
  private[storage] def makeRoom(): Unit = {
    if (freed.size > Pages.MostFreed) store()
    memory.makeRoom()
  }

  /** Creates a map for the open group, which each later group uses too. */
  def newMap(): PagedMap = {
    val map = new PagedMap(this)
    maps += map
    map
  }

  /** Creates short values of the open group beside its pages, which each later group uses too. */
  def newValues(): NumberedValues = {
    val first = NumberedValues.firstEntry(ofValues)
    val made = new NumberedValues(new ShiftedSegments(segments, first), this)
    ofValues += 1
    beside += made
    made
  }

  /** Creates the blocks of the open group beside its pages, which each later group uses too.
    * There is one instance at most.
    */
  def newBlocks(): NumberedBlocks = {
    require(ofBlocks == 0, "blocks have one owner")
    val made =
      new NumberedBlocks(new ShiftedSegments(segments, NumberedBlocks.FirstBlock), this)
    ofBlocks += 1
    beside += made
    made
  }

  /** Creates an instance over the same storage, for maps of other owners. */
  def another(): Pages = new Pages(segments, memory)

  /** Starts with the stored pages of another instance over the same storage. This one may read
    * and discard them.
    */
  def startAs(other: Pages): Unit = {
    clear()
    last = other.last
    stored = other.stored
    most = other.most
  }

  /** Starts with a group that has no pages. */
  def clear(): Unit = {
    maps.foreach(_.startAfresh())
    beside.foreach(_.startAfresh())
    loaded.clear()
    freed.clear()
    last = 0L
    stored = 0L
    changes = 0L
    most = PageSize.Large
  }

  /** Writes the changed pages and the last page number. The caller saves the maps too, in any
    * order.
    */
  def save(out: ByteWriter): Unit = {
    settle()
    saveNumber(out)
  }

  /** Writes the changed pages. */
  def settle(): Unit = {
    choosePageSize()
    store()
  }

  /** Returns true if the group has never had a page, so that [[clear]] stands for [[restore]]. */
  def areUnused: Boolean = last == 0 && most != PageSize.Small

  /** Writes what [[restore]] reads, after [[settle]]. */
  def saveNumber(out: ByteWriter): Unit = {
    out.number(if (most == PageSize.Small) -1 - last else last)
  }

  /** Writes the changed pages and values, and forgets all loaded ones. The cursors of the maps
    * stay at their entries.
    */
  private[storage] def unload(): Unit = if (loaded.nonEmpty || beside.exists(_.areLoaded)) {
    store()
    loaded.clear()
    maps.foreach(_.unload())
    beside.foreach(_.unload())
  }

  /** About the number of bytes on the heap of the loaded pages and values. */
  private[btree] def loadedBytes: Long = {
    var bytes = 0L
    loaded.foreachValue(bytes += _.heapBytes)
    beside.foreach(bytes += _.heapBytes)
    bytes
  }

  /** Empties the group's maps and removes their stored pages. */
  def discard(): Unit = {
    maps.foreach(_.clear())
    beside.foreach(_.clear())
    store()
  }

  /** Starts with a stored group. Its maps are restored afterwards. */
  def restore(in: ByteReader): Unit = {
    clear()
    val number = in.number()
    if (number < 0) most = PageSize.Small
    last = if (number < 0) -1 - number else number
    if (last >= Pages.FirstChanges) throw new CorruptStateException(s"$last pages")
    stored = last
  }

  /** The page with the number, loaded if necessary.
    *
    * @throws CorruptStateException
    *   if the page is not stored
    */
  private[storage] def page(number: Long): Page = {
    val there = loaded.getOrNull(number)
    if (there != null) there else load(number)
  }

  /** Creates an empty page under a new number. */
  private[storage] def create(isLeaf: Boolean): Page = {
    last += 1
    val page = new Page(last, isLeaf)
    loaded.update(last, page)
    memory.take(page.heapBytes)
    page
  }

  /** Removes a page; the store deletes it with the next [[save]] or [[discard]]. */
  private[storage] def free(page: Page): Unit = {
    loaded.remove(page.number)
    // A page that was never stored need not be removed from the store.
    if (page.number <= stored) {
      freed += page.number
      if (hasStoredChanges(page)) freed += Pages.FirstChanges + page.number
    }
  }

  /** Chooses small pages for few changes. Existing pages keep their size until they change. */
  private def choosePageSize(): Unit = {
    if (changes > 0) {
      var entries = 0L
      maps.foreach(entries += _.size)
      if (changes <= entries / Pages.FewChanges) most = PageSize.Small
      else if (changes >= entries / Pages.ManyChanges) most = PageSize.Large
    }
    changes = 0L
  }

  private def store(): Unit = {
    freed.foreach(segments.remove)
    freed.clear()
    loaded.foreachValue { page =>
      if (page.isDirty) {
        if (!page.knowsBase || !storeChanges(page)) storeWhole(page)
        page.isDirty = false
      }
    }
    beside.foreach(_.store())
    stored = last
  }

  /** Stores the changes of a page; returns false if the page is better stored whole. */
  private def storeChanges(page: Page): Boolean = {
    writer.clear()
    changesWriter.write(page, writer)
    val isWorth = page.base.isWorthChanges(writer.end, changesWriter.removed)
    if (isWorth) {
      segments.put(Pages.FirstChanges + page.number, writer.toArray)
      page.base.times += 1
    }
    isWorth
  }

  private def storeWhole(page: Page): Unit = {
    writer.clear()
    val mayChange = most == PageSize.Small && !page.isGiant
    PackedPage.write(page, mayChange, writer)
    segments.put(page.number, writer.toArray)
    if (hasStoredChanges(page)) segments.remove(Pages.FirstChanges + page.number)
    page.forgetBase()
  }

  private def hasStoredChanges(page: Page): Boolean = page.base != null && page.base.times > 0

  private def load(number: Long): Page = {
    val bytes = segments.get(number)
    if (bytes == null) throw new CorruptStateException(s"page $number is missing")
    val in = new ByteReader(bytes)
    val page = PackedPage.read(number, in)
    in.finish()
    val changed = if (page.base == null) page else withChanges(page)
    loaded.update(number, changed)
    memory.take(changed.heapBytes)
    changed
  }

  private def withChanges(page: Page): Page = {
    val bytes = segments.get(Pages.FirstChanges + page.number)
    if (bytes == null) page else new PageChangesReader(page, new ByteReader(bytes)).read()
  }
}

private object Pages {

  /** Pages are small while at most one in this number of entries changes in a micro-batch. */
  val FewChanges = 8L

  /** Pages are large again when at least one in this number of entries changes. */
  val ManyChanges = 2L

  /** The number of the changes of page 0; the numbers of pages are less. */
  val FirstChanges: Long = 1L << 58

  /** The number of pages that may be freed before the store deletes them. */
  val MostFreed = 65536
}
