package winops.window.contents

import java.util.Arrays

import winops.storage.bytes.ByteWriter
import winops.window.expression.WindowView

/** Pairs of the hash of a key and the number of its row, in memory, in the order in which they
  * were added.
  */
private[contents] final class KeyPairs {
  import KeyPairs._

  private var hashes = new Array[Int](Least)
  private var numbers = new Array[Long](Least)
  private var count = 0

  /** A hash table of the places of pairs plus one, which are found by probing; 0 if it is free.
    */
  private var table = Array.emptyIntArray

  def size: Int = count
  def hash(i: Int): Int = hashes(i)
  def number(i: Int): Long = numbers(i)

  def add(hash: Int, number: Long): Unit = {
    if (count == hashes.length) {
      hashes = Arrays.copyOf(hashes, count * 2)
      numbers = Arrays.copyOf(numbers, count * 2)
    }
    hashes(count) = hash
    numbers(count) = number
    count += 1
    if (table.length >= count * 2) enter(count - 1)
    else if (table.length > 0) table = Array.emptyIntArray
  }

  def addAll(block: KeyBlock): Unit = {
    var i = 0
    while (i < block.count) {
      add(block.hash(i), block.number(i))
      i += 1
    }
  }

  /** The number of a pair with the hash for which `isSought` holds; [[WindowView.NoRow]] if there
    * is none.
    */
  def find(hash: Int, isSought: Long => Boolean): Long = {
    var found = WindowView.NoRow
    if (count > 0) {
      if (table.length < count * 2) makeTable()
      var at = hash & (table.length - 1)
      while (found == WindowView.NoRow && table(at) != 0) {
        val i = table(at) - 1
        if (hashes(i) == hash && isSought(numbers(i))) found = numbers(i)
        at = (at + 1) & (table.length - 1)
      }
    }
    found
  }

  /** The places of the pairs, in the order of the hashes as unsigned numbers. */
  def inOrder: Array[Int] = {
    val sorted = Array.tabulate(count) { i =>
      Integer.toUnsignedLong(hashes(i)) << BitsOfPlace | i.toLong
    }
    Arrays.sort(sorted)
    sorted.map(entry => (entry & ((1L << BitsOfPlace) - 1)).toInt)
  }

  def clear(): Unit = {
    count = 0
    table = Array.emptyIntArray
    if (hashes.length > MostKept) {
      hashes = new Array[Int](Least)
      numbers = new Array[Long](Least)
    }
  }

  def toBlock(out: ByteWriter): Array[Byte] = KeyBlock.write(hashes, numbers, count, out)

  private def makeTable(): Unit = {
    table = new Array[Int](Integer.highestOneBit(Math.max(Least, count) * 4 - 1))
    var i = 0
    while (i < count) {
      enter(i)
      i += 1
    }
  }

  private def enter(i: Int): Unit = {
    var at = hashes(i) & (table.length - 1)
    while (table(at) != 0) at = (at + 1) & (table.length - 1)
    table(at) = i + 1
  }
}

private[contents] object KeyPairs {
  private val Least = 64
  private val MostKept = 4096
  private val BitsOfPlace = 31
}
