package winops.storage.btree

import scala.collection.mutable

/** Bounds the memory of all pages and values that the maps of one task have loaded.
  *
  * Once they take more than the bound, the changed ones are written to their segments and all are
  * forgotten; they are read again on demand. A micro-batch whose pages fit writes each changed
  * page once, when its group is saved.
  *
  * @param limit
  *   number of bytes on the heap
  */
final class PageMemory(val limit: Long = PageMemory.DefaultBytes) {
  private val users = mutable.ArrayBuffer.empty[Pages]

  /** About the number of bytes that were loaded or added since the last sum. */
  private var used = 0L
  private var unloads = 0L

  /** The number of times that everything was unloaded. */
  private[winops] def timesUnloaded: Long = unloads

  private[btree] def add(user: Pages): Unit = users += user

  /** Notes that about so many bytes were loaded or added. */
  private[btree] def take(bytes: Long): Unit = used += bytes

  /** Unloads everything if the bound is passed. No map may be in the middle of a change. */
  private[btree] def makeRoom(): Unit = if (used > limit) {
    used = users.iterator.map(_.loadedBytes).sum
    // Half of the bound is free afterwards, so that the sum is not computed for each entry.
    if (used > limit / 2) {
      users.foreach(_.unload())
      used = 0L
      unloads += 1
    }
  }
}

object PageMemory {

  /** The bound of a task for which no other one is computed. */
  val DefaultBytes: Long = 8L << 20
}
