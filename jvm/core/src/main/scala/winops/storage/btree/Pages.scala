package winops.storage.btree

import scala.collection.mutable

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, Segments}

/** The pages of one group's maps, read on demand and written when the group is stored.
  *
  * An instance is reused from group to group: [[restore]] or [[clear]] starts the next group.
  */
final class Pages(segments: Segments) {
  private val maps = mutable.ArrayBuffer.empty[PagedMap]
  private val loaded = mutable.LongMap.empty[Page]
  private val freed = mutable.ArrayBuffer.empty[Long]
  private var stored = 0L
  private var last = 0L
  private val writer = new ByteWriter

  /** Creates a map for the open group, which each later group uses too. */
  def newMap(): PagedMap = {
    val map = new PagedMap(this)
    maps += map
    map
  }

  /** Starts with a group that has no pages. */
  def clear(): Unit = {
    maps.foreach(_.startAfresh())
    loaded.clear()
    freed.clear()
    last = 0L
    stored = 0L
  }

  /** Writes the changed pages and the last page number. The caller saves the maps too, in any
    * order.
    */
  def save(out: ByteWriter): Unit = {
    store()
    out.number(last)
  }

  /** Writes the changed pages and forgets all loaded ones if they are many, so that the heap does
    * not grow with the maps. The cursors of the maps stay at their entries.
    */
  def unload(most: Int = Pages.MostLoaded): Unit = if (loaded.size > most) {
    store()
    loaded.clear()
    maps.foreach(_.unload())
  }

  /** Empties the group's maps and removes their stored pages. */
  def discard(): Unit = {
    maps.foreach(_.clear())
    store()
  }

  /** Starts with a stored group. Its maps are restored afterwards. */
  def restore(in: ByteReader): Unit = {
    clear()
    last = in.count(Long.MaxValue)
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
    page
  }

  /** Removes a page; the store deletes it with the next [[save]] or [[discard]]. */
  private[storage] def free(page: Page): Unit = {
    loaded.remove(page.number)
    // A page that was never stored need not be removed from the store.
    if (page.number <= stored) freed += page.number
  }

  private def store(): Unit = {
    freed.foreach(segments.remove)
    freed.clear()
    loaded.foreachValue { page =>
      if (page.isDirty) {
        writer.clear()
        PackedPage.write(page, writer)
        segments.put(page.number, writer.toArray)
        page.isDirty = false
      }
    }
    stored = last
  }

  private def load(number: Long): Page = {
    val bytes = segments.get(number)
    if (bytes == null) throw new CorruptStateException(s"page $number is missing")
    val in = new ByteReader(bytes)
    val page = PackedPage.read(number, in)
    in.finish()
    loaded.update(number, page)
    page
  }
}

private object Pages {

  /** The number of pages that may stay loaded, of at most 8 KiB each. */
  val MostLoaded = 1024
}
