package winops.peers.process

/** Some rows of a file, one after the other, by column. */
final class Block(val rows: Int) {
  val keys = new Array[Long](rows)
  val seqs = new Array[Long](rows)
  val prices = new Array[Double](rows)
  val qtys = new Array[Long](rows)
  val micros = new Array[Long](rows)
}

object Block {

  /** Which of `parts` takes care of a key. */
  def partOf(key: Long, parts: Int): Int =
    // Fibonacci hashing: neighbouring keys are spread over the parts.
    (((key * 0x9e3779b97f4a7c15L) >>> 32) % parts).toInt
}
