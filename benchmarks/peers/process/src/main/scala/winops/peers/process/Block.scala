package winops.peers.process

/** Consecutive rows of a file, by column. */
final class Block(val rows: Int) {
  val keys = new Array[Long](rows)
  val seqs = new Array[Long](rows)
  val prices = new Array[Double](rows)
  val qtys = new Array[Long](rows)
  val micros = new Array[Long](rows)
}

object Block {

  /** The part, of `parts`, that processes a key. */
  def partOf(key: Long, parts: Int): Int =
    // Fibonacci hashing spreads consecutive keys over the parts.
    (((key * 0x9e3779b97f4a7c15L) >>> 32) % parts).toInt
}
