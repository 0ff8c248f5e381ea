package winops.storage.buckets

/** Which of a growing number of buckets a hash belongs to: linear hashing (Litwin, 1980). With a
  * bucket more, one of them is divided and all others stay what they are, so that nothing but
  * their number has to be known to find one.
  *
  * A bucket is a range of hashes in their unsigned order, and its name is the first of them.
  *
  * @param buckets
  *   how many there are, at least 1
  */
final case class LinearHashing(buckets: Long) {
  import LinearHashing._

  private val bits = java.lang.Long.SIZE - 1 - java.lang.Long.numberOfLeadingZeros(buckets)
  private val divided = buckets - (1L << bits)

  /** The bucket of a hash. */
  def bucketOf(hash: Long): Long = startOf(hash, depthOf(hash))

  /** The buckets that are divided where there are more of them. */
  def dividedIn(more: LinearHashing): Iterator[Long] =
    if (more.bits == bits) numbers(divided, more.divided).map(start(_, bits))
    else {
      val ofDivided =
        if (more.bits == bits + 1) Math.min(more.divided, 2 * divided) else 2 * divided
      numbers(divided, 1L << bits).map(start(_, bits)) ++
        numbers(0, ofDivided).map(start(_, bits + 1))
    }

  /** How many of its first bits the hashes in the bucket of a hash have in common. */
  private def depthOf(hash: Long): Int = if (firstBits(hash, bits) < divided) bits + 1 else bits
}

object LinearHashing {
  private def numbers(from: Long, until: Long): Iterator[Long] =
    Iterator.iterate(from)(_ + 1).takeWhile(_ < until)

  // A shift by all 64 bits is one by none.
  private def firstBits(hash: Long, bits: Int): Long = hash >>> 1 >>> (63 - bits)
  private def start(firstBits: Long, bits: Int): Long = firstBits << (63 - bits) << 1
  private def startOf(hash: Long, bits: Int): Long = start(firstBits(hash, bits), bits)
}
