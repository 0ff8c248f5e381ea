package winops.storage.buckets

/** Maps hashes to a growing number of buckets by linear hashing (Litwin, 1980). An additional
  * bucket divides one bucket and leaves the others unchanged, so the number of buckets suffices
  * to find a bucket.
  *
  * A bucket is a range of hashes in unsigned order; the first hash of the range identifies it.
  *
  * @param buckets
  *   number of buckets, at least 1
  */
final case class LinearHashing(buckets: Long) {
  import LinearHashing._

  private val bits = java.lang.Long.SIZE - 1 - java.lang.Long.numberOfLeadingZeros(buckets)
  private val divided = buckets - (1L << bits)

  /** The bucket of a hash. */
  def bucketOf(hash: Long): Long = startOf(hash, depthOf(hash))

  /** The buckets that are divided if the number of buckets grows to that of `more`. */
  def dividedIn(more: LinearHashing): Iterator[Long] =
    if (more.bits == bits) numbers(divided, more.divided).map(start(_, bits))
    else {
      val ofDivided =
        if (more.bits == bits + 1) Math.min(more.divided, 2 * divided) else 2 * divided
      numbers(divided, 1L << bits).map(start(_, bits)) ++
        numbers(0, ofDivided).map(start(_, bits + 1))
    }

  /** Number of leading bits that all hashes in the bucket of this hash share. */
  private def depthOf(hash: Long): Int = if (firstBits(hash, bits) < divided) bits + 1 else bits
}

object LinearHashing {
  private def numbers(from: Long, until: Long): Iterator[Long] =
    Iterator.iterate(from)(_ + 1).takeWhile(_ < until)

  // Two shifts, because the JVM takes a shift by 64 bits as a shift by 0.
  private def firstBits(hash: Long, bits: Int): Long = hash >>> 1 >>> (63 - bits)
  private def start(firstBits: Long, bits: Int): Long = firstBits << (63 - bits) << 1
  private def startOf(hash: Long, bits: Int): Long = start(firstBits(hash, bits), bits)
}
