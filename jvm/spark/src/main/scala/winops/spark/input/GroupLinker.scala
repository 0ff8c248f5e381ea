package winops.spark.input

import org.apache.spark.sql.catalyst.expressions.{Attribute, RowOrdering, UnsafeRow}

import winops.spark.plan.OperatorPlan

/** Links the rows of a partition into chains: all rows whose keys have the same hash, in the
  * order of their arrival.
  *
  * @param newest
  *   number of newest rows per group that the query needs; rows that are certainly older are left
  *   out
  */
private[spark] final class GroupLinker(plan: OperatorPlan, input: Seq[Attribute], newest: Int) {
  private val sameKeys = new SameKeys(plan.keys, input)
  private val arrival = RowOrdering.create(plan.arrival, input)
  private val before = new UnsafeRow(input.size)
  private val row = new UnsafeRow(input.size)

  val hashes = new KeyHashTable

  /** Links the rows of `part` into [[hashes]], which loses the chains of the partition before. */
  def link(part: RowPartition): Unit = {
    hashes.clear()
    val linked = part.cursor
    val all = part.cursor
    while (all.next()) {
      if (hashes.findOrAdd(all.hash, all.address)) {
        linked.moveTo(hashes.last)
        linked.pointTo(before)
        all.pointTo(row)
        val isOne = sameKeys(before, row)
        val isNext = isOne && arrival.compare(before, row) <= 0
        if (isNext || !(isOne && isTooOld(linked))) {
          linked.moveTo(hashes.last)
          linked.follower = all.address
          hashes.append(all.address, isOne, isNext)
        }
      }
    }
  }

  /** Returns true if the row is certainly not among the newest `newest` rows of its group. If the
    * chain has one key and its first `newest` rows arrived in order, the first row is the oldest
    * of the chain: later rows are not older, or were left out.
    */
  private def isTooOld(cursor: RowPartition#Cursor): Boolean =
    hashes.isOneKey && hashes.rowsInOrder >= newest && {
      cursor.moveTo(hashes.first)
      cursor.pointTo(before)
      arrival.compare(before, row) > 0
    }
}
