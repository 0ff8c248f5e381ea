package winops.window.crossgroup

/** Turns the groups of a cross-group policy into the bytes of their keys, and back. */
trait GroupKeys[G] {
  def bytesOf(group: G): Array[Byte]

  /** The group whose key has these bytes. */
  def groupOf(key: Array[Byte]): G
}
