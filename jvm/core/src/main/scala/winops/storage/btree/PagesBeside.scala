package winops.storage.btree

/** Data that a group stores beside its pages. They are loaded on demand, within the memory of the
  * pages, and are written and removed with these.
  */
private[storage] trait PagesBeside {

  /** Starts with the next group, which has nothing of this. */
  private[storage] def startAfresh(): Unit

  /** Removes everything. */
  def clear(): Unit

  /** Writes what has changed. */
  private[storage] def store(): Unit

  /** About the number of bytes on the heap. */
  private[btree] def heapBytes: Long

  private[btree] def areLoaded: Boolean

  /** Writes what has changed and forgets what is in memory. */
  private[btree] def unload(): Unit
}
