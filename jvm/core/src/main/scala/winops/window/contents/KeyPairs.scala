package winops.window.contents

import java.util.Arrays

import winops.storage.bytes.ByteWriter

/** Pairs of the hash of a key and the number of its row, in memory, of which a block is made. */
private[contents] final class KeyPairs {
  import KeyPairs._

  private var hashes = new Array[Int](Least)
  private var numbers = new Array[Long](Least)
  private var count = 0

  def size: Int = count

  def add(hash: Int, number: Long): Unit = {
    if (count == hashes.length) {
      hashes = Arrays.copyOf(hashes, count * 2)
      numbers = Arrays.copyOf(numbers, count * 2)
    }
    hashes(count) = hash
    numbers(count) = number
    count += 1
  }

  def clear(): Unit = count = 0

  def toBlock(out: ByteWriter): Array[Byte] = KeyBlock.write(hashes, numbers, inOrder, out)

  /** The places of the pairs, in the order of the hashes as unsigned numbers. */
  private def inOrder: Array[Int] = {
    val sorted = Array.tabulate(count) { i =>
      Integer.toUnsignedLong(hashes(i)) << BitsOfPlace | i.toLong
    }
    Arrays.sort(sorted)
    sorted.map(entry => (entry & ((1L << BitsOfPlace) - 1)).toInt)
  }
}

private[contents] object KeyPairs {
  private val Least = 64
  private val BitsOfPlace = 31
}
