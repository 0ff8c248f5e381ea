package winops.storage.btree

/** The stored form of a page, with which changes of the page are stored in another entry.
  *
  * @param places
  *   the places of its entries in the page's array, in key order
  * @param children
  *   the numbers of the children of an inner page; empty for a leaf
  * @param bytes
  *   length of the stored page
  */
private[storage] final class PageBase(
    val places: Array[Int],
    children: Array[Long],
    val bytes: Int) {

  /** The number of times that changes were stored; 0 if no changes are stored. */
  var times: Int = 0

  def count: Int = places.length
  def child(index: Int): Long = if (children.length == 0) 0L else children(index)

  /** Returns true if storing changes again costs less than storing the page. The changes are
    * stored until they have cost as much as the page, or are an eighth of it together with the
    * entries that they remove.
    *
    * @param length
    *   number of bytes of the changes
    * @param removed
    *   number of entries of the base that the page does not have
    */
  def isWorthChanges(length: Int, removed: Int): Boolean =
    (times + 1L) * length / 2 <= bytes &&
      length + bytes.toLong * removed / count <= bytes / PageBase.StoredAgain
}

private object PageBase {

  /** Changes, and entries that are stored although they were removed, are at most one in this
    * number of bytes of a page. Windows then take a tenth more room at rest.
    */
  val StoredAgain = 8
}
