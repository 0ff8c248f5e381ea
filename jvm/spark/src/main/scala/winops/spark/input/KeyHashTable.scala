package winops.spark.input

import java.util.Arrays

/** A hash table from the hashes of keys to chains of rows, each with the addresses of its first
  * and its last row. All methods but [[clear]] and [[find]] act on the chain that was found last.
  */
private[spark] final class KeyHashTable {
  import KeyHashTable._

  /** 1-based chain index; 0 marks an empty slot. */
  private var slots = new Array[Int](1 << 11)
  private var chains = new Array[Long](Fields << 10)
  private var count = 0
  private var found = 0

  /** The number of chains. */
  def size: Int = count

  def clear(): Unit = {
    Arrays.fill(slots, 0)
    count = 0
  }

  /** Finds the chain of a hash, or starts one with the row at `address`; returns true if there was
    * one.
    */
  def findOrAdd(hash: Long, address: Long): Boolean = {
    val slot = slotOf(hash)
    val exists = slots(slot) > 0
    if (exists) found = Fields * (slots(slot) - 1) else add(slot, hash, address)
    exists
  }

  /** Goes to the chain with this number. */
  def goTo(number: Int): Unit = found = Fields * number

  /** Finds the chain of a hash that has one. */
  def find(hash: Long): Unit = found = Fields * (slots(slotOf(hash)) - 1)

  def first: Long = chains(found + First)
  def last: Long = chains(found + Last)

  /** Whether all rows are of one key. */
  def isOneKey: Boolean = (chains(found + Rows) & SeveralKeys) == 0

  def rows: Int = (chains(found + Rows) >> FlagBits).toInt

  /** How many rows, from the first on, are of one key and in order. */
  def rowsInOrder: Int = chains(found + InOrder).toInt

  /** Whether all rows are of one key, and in order. */
  def isOrdered: Boolean = rowsInOrder == rows

  /** The row at `address` is now the last. */
  def append(address: Long, isOneKey: Boolean, isOrdered: Boolean): Unit = {
    chains(found + Last) = address
    if (isOrdered && this.isOrdered) chains(found + InOrder) += 1
    chains(found + Rows) += OneRow
    if (!isOneKey) chains(found + Rows) |= SeveralKeys
  }

  /** Writes the hashes of all chains to the beginning of `target`. */
  def copyTo(target: Array[Long]): Unit = {
    var i = 0
    while (i < count) {
      target(i) = chains(Fields * i)
      i += 1
    }
  }

  private def add(slot: Int, hash: Long, address: Long): Unit = {
    if (Fields * count == chains.length) chains = Arrays.copyOf(chains, chains.length * 2)
    found = Fields * count
    chains(found) = hash
    chains(found + First) = address
    chains(found + Last) = address
    chains(found + Rows) = OneRow
    chains(found + InOrder) = 1L
    count += 1
    slots(slot) = count
    if (count > slots.length / 2) grow()
  }

  /** The slot of a hash, or the free one that it takes. */
  private def slotOf(hash: Long): Int = {
    val mask = slots.length - 1
    var slot = hash.toInt & mask
    while (slots(slot) > 0 && chains(Fields * (slots(slot) - 1)) != hash) slot = slot + 1 & mask
    slot
  }

  private def grow(): Unit = {
    slots = new Array[Int](slots.length * 2)
    var i = 0
    while (i < count) {
      slots(slotOf(chains(Fields * i))) = i + 1
      i += 1
    }
  }
}

private object KeyHashTable {

  /** Of a chain: its hash, and at these places what else is known of it. */
  private val Fields = 5
  private val First = 1
  private val Last = 2
  private val Rows = 3
  private val InOrder = 4

  /** Below the number of rows there is room for a flag. */
  private val SeveralKeys = 1L
  private val FlagBits = 1
  private val OneRow = 1L << FlagBits
}
