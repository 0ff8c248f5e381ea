package winops.window.contents

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}

/** Blocks of pairs of the hash of a key and the number of its row, one for each value of so many
  * highest bits of a hash.
  *
  * @param first
  *   the number of the first block
  * @param count
  *   the number of pairs
  * @param last
  *   the number of the newest row when the run was made
  */
private[contents] final class KeyRun(
    val first: Long,
    val bits: Int,
    val count: Long,
    val last: Long) {

  /** The number behind that of the last block. */
  def end: Long = first + (1L << bits)

  /** The number of the block that has the pairs with a hash. */
  def blockOf(hash: Int): Long = first + KeyRun.partOf(hash, bits)

  def write(out: ByteWriter): Unit = {
    out.byte(bits)
    out.number(count)
    out.number(last)
  }
}

private[contents] object KeyRun {
  val MostBits = 20

  /** Reads a run.
    *
    * @param first
    *   the number of the first block
    * @param rows
    *   the number of rows that the group has had, which have at most one pair each
    */
  def read(in: ByteReader, first: Long, rows: Long): KeyRun = {
    val bits = in.byte()
    if (bits < 0 || bits > MostBits) {
      throw new CorruptStateException(s"keys are in 2 ^ $bits blocks")
    }
    new KeyRun(first, bits, in.count(rows), in.count(rows))
  }

  /** The place of the block that has the pairs with a hash, in a run of 2 ^ `bits` blocks. */
  def partOf(hash: Int, bits: Int): Int =
    if (bits == 0) 0 else hash >>> (Integer.SIZE - bits)
}
