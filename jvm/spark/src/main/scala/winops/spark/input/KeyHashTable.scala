package winops.spark.input

import java.util.Arrays

/** Maps the hashes of keys to chains of rows, each with the addresses of its first and last row.
  * All methods but [[size]], [[clear]], [[find]], [[findOrAdd]], [[goTo]] and [[copyTo]] act on
  * the chain that was selected last.
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

  /** Selects the chain of a hash, or starts one with the row at `address`. Returns true if the
    * hash had a chain.
    */
  def findOrAdd(hash: Long, address: Long): Boolean = {
    val slot = slotOf(hash)
    val exists = slots(slot) > 0
    if (exists) found = Fields * (slots(slot) - 1) else add(slot, hash, address)
    exists
  }

  /** Selects the chain with this number, from 0 in the order of creation. */
  def goTo(number: Int): Unit = found = Fields * number

  /** Selects the chain of a hash, which must have one. */
  def find(hash: Long): Unit = found = Fields * (slots(slotOf(hash)) - 1)

  /** The address of the chain's first row. */
  def first: Long = chains(found + First)

  /** The address of the chain's last row. */
  def last: Long = chains(found + Last)

  /** Returns true if all rows of the chain have one key. */
  def isOneKey: Boolean = (chains(found + Rows) & SeveralKeys) == 0

  /** The number of rows of the chain. */
  def rows: Int = (chains(found + Rows) >> FlagBits).toInt

  /** The number of rows from the first on that have one key and are in order. */
  def rowsInOrder: Int = chains(found + InOrder).toInt

  /** Returns true if all rows of the chain have one key and are in order. */
  def isOrdered: Boolean = rowsInOrder == rows

  /** Makes the row at `address` the last of the chain.
    *
    * @param isOneKey
    *   whether the row has the key of the row before
    * @param isOrdered
    *   whether the row also follows that row in order
    */
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

  /** The slot of a hash, or the free slot for it. */
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

  /** Fields of a chain. The first field is its hash, the others have the offsets below. */
  private val Fields = 5
  private val First = 1
  private val Last = 2
  private val Rows = 3
  private val InOrder = 4

  /** The field `Rows` holds the number of rows above one flag bit. */
  private val SeveralKeys = 1L
  private val FlagBits = 1
  private val OneRow = 1L << FlagBits
}
