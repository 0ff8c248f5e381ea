package winops.storage.btree

/** The maximum size of the pages of a group.
  *
  * @param entries
  *   number of entries
  * @param bytes
  *   number of bytes of keys, values and numbers of children
  */
private[storage] final class PageSize private (val entries: Int, val bytes: Long)

private[storage] object PageSize {

  /** The size at which reading a page costs little more than finding it; for groups most of whose
    * pages change in each micro-batch.
    */
  val Large: PageSize = new PageSize(256, 8192L)

  /** The size for groups with few changes in a micro-batch, which read a page for each of them.
    */
  val Small: PageSize = new PageSize(64, 2048L)
}
