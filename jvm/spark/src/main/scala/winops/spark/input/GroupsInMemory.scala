package winops.spark.input

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection, UnsafeRow}

import winops.spark.plan.OperatorPlan

/** Reads the groups of rows that are all in memory, partition by partition, and by hash within a
  * partition.
  *
  * The rows of one hash are a chain. A chain that has one key and is in order is read in place.
  * Other chains are sorted first, unless the reader sorts them.
  *
  * @param parts
  *   the partitions of the rows; each is cleared when its groups have been read
  * @param sorts
  *   false if each chain is given as it is linked, in the order in which its rows were added
  */
private[spark] final class GroupsInMemory(
    plan: OperatorPlan,
    input: Seq[Attribute],
    parts: Iterator[RowPartition],
    sorts: Boolean = true)
    extends GroupedRows {
  private val keyOf = UnsafeProjection.create(plan.keys, input)
  private val linker = new GroupLinker(plan, input, Int.MaxValue)
  private val hashes = linker.hashes
  private val unordered = new RunGroups(plan, input)

  private var part: RowPartition = _
  private var cursor: RowPartition#Cursor = _
  private var ordered = new Array[Long](1 << 10)
  private var chain = 0
  private var chains = 0

  private var readsChain = true
  private var chainKey: UnsafeRow = _
  private var address = RowPartition.None

  private val row = new UnsafeRow(input.size)

  override def key: UnsafeRow = if (readsChain) chainKey else unordered.key

  override def hasNext: Boolean =
    if (readsChain) address != RowPartition.None else unordered.hasNext

  override def next(): UnsafeRow =
    if (readsChain) {
      read(address)
      address = cursor.follower
      row
    } else unordered.next()

  override def nextGroup(): Boolean = !readsChain && unordered.nextGroup() || nextChain()

  private def nextChain(): Boolean = {
    while (chain == chains && nextPart()) {}
    val found = chain < chains
    if (found) {
      hashes.find(ordered(chain))
      chain += 1
      readsChain = !sorts || hashes.isOrdered
      if (readsChain) {
        address = hashes.first
        read(address)
        chainKey = keyOf(row).copy()
      } else {
        putInOrder()
        unordered.nextGroup()
      }
    } else {
      readsChain = true
      address = RowPartition.None
    }
    found
  }

  private def nextPart(): Boolean = {
    if (part != null) part.clear()
    val found = parts.hasNext
    if (found) {
      part = parts.next()
      cursor = part.cursor
      link(part)
    }
    found
  }

  private def link(part: RowPartition): Unit = {
    linker.link(part)
    chain = 0
    chains = hashes.size
    if (ordered.length < chains) ordered = new Array[Long](chains * 2)
    hashes.copyTo(ordered)
    // A state store has its groups in the order of unsigned hashes.
    toOrFromRanks()
    Arrays.sort(ordered, 0, chains)
    toOrFromRanks()
  }

  private def toOrFromRanks(): Unit = {
    var i = 0
    while (i < chains) {
      ordered(i) ^= Long.MinValue
      i += 1
    }
  }

  private def putInOrder(): Unit = {
    unordered.clear()
    var address = hashes.first
    while (address != RowPartition.None) {
      read(address)
      unordered.add(row)
      address = cursor.follower
    }
    unordered.close(hashes.isOneKey)
  }

  private def read(address: Long): Unit = {
    cursor.moveTo(address)
    cursor.pointTo(row)
  }
}
