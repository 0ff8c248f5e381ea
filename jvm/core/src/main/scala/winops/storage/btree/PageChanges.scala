package winops.storage.btree

/** The stored changes of a page: operations in key order that make the page from its base. An
  * operation is one byte with its kind and the number of entries of the base that stay before it.
  */
private object PageChanges {
  val Version: Byte = 1

  /** The kinds of operations. */
  val Remove = 0
  val Replace = 1

  /** Inserts an entry with the lengths of the entry before it in the page. */
  val InsertAlike = 2
  val Insert = 3

  /** Number of bits of a kind. */
  val Bits = 2

  /** Stands for this number of entries that stay, or a greater one; the number follows. */
  val ManyStay = 63
}
