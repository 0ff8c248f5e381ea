package winops.spark.input

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.{Attribute, RowOrdering, UnsafeRow}

import winops.spark.plan.OperatorPlan

/** Finds the newest rows of each group in a partition.
  *
  * @param count
  *   number of rows per group
  */
private[spark] final class NewestRows(plan: OperatorPlan, input: Seq[Attribute], count: Int) {
  private val chains = new GroupLinker(plan, input, count)
  private val hashes = chains.hashes
  private val arrival = RowOrdering.create(plan.arrival, input)
  private var gathered = new Array[UnsafeRow](256)

  /** Copies the newest rows to another partition, the rows of a group in order. Returns false if
    * memory runs out. Groups that share a hash are copied whole.
    */
  def copy(from: RowPartition, to: RowPartition): Boolean = {
    chains.link(from)
    val cursor = from.cursor
    var chain = 0
    var fits = true
    while (fits && chain < hashes.size) {
      hashes.goTo(chain)
      fits =
        if (hashes.isOrdered) copyChain(cursor, hashes.rows - count, to)
        else if (hashes.isOneKey) copySorted(cursor, to)
        else copyChain(cursor, 0, to)
      chain += 1
    }
    fits
  }

  private def copyChain(cursor: RowPartition#Cursor, skipped: Int, to: RowPartition): Boolean = {
    var address = hashes.first
    var i = 0
    var fits = true
    while (fits && address != RowPartition.None) {
      cursor.moveTo(address)
      if (i >= skipped) fits = to.add(cursor.base, cursor.offset, cursor.length, cursor.hash)
      address = cursor.follower
      i += 1
    }
    fits
  }

  private def copySorted(cursor: RowPartition#Cursor, to: RowPartition): Boolean = {
    cursor.moveTo(hashes.first)
    val hash = cursor.hash
    val rows = hashes.rows
    gather(cursor, rows)
    Arrays.sort(gathered, 0, rows, arrival)
    var i = Math.max(0, rows - count)
    var fits = true
    while (fits && i < rows) {
      val row = gathered(i)
      fits = to.add(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes, hash)
      i += 1
    }
    fits
  }

  private def gather(cursor: RowPartition#Cursor, rows: Int): Unit = {
    if (rows > gathered.length) gathered = Arrays.copyOf(gathered, rows * 2)
    var address = hashes.first
    var i = 0
    while (i < rows) {
      if (gathered(i) == null) gathered(i) = new UnsafeRow(input.size)
      cursor.moveTo(address)
      cursor.pointTo(gathered(i))
      address = cursor.follower
      i += 1
    }
  }
}
