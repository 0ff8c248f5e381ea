package winops.window.crossgroup

/** Stores a short value for each group of a cross-group policy, by the bytes of the group's key.
  */
trait GroupRecords {

  /** The value of a group, or null if it has none. */
  def get(key: Array[Byte]): Array[Byte]
  def put(key: Array[Byte], value: Array[Byte]): Unit
  def remove(key: Array[Byte]): Unit
}
