package winops.spark.harness

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.group.{GroupState, GroupStorage, KeepOperation}
import winops.spark.plan.KeepPlan
import winops.spark.row.RowBytes
import winops.spark.state.TransientGroupStore
import winops.window.changes.ChangeQueue

/** Reads the window contents of stored groups. */
private[harness] object StoredContents {

  /** The key of each stored group, and the numbers of the rows in its windows. A row in several
    * windows has its number several times.
    */
  def of(plan: KeepPlan, store: TransientGroupStore): Seq[(UnsafeRow, Seq[Long])] = {
    val storage = new GroupStorage(plan, store)
    val changes = new ChangeQueue(plan.spec.policy.stream.copy(inserts = true, deletes = true))
    val operation =
      new KeepOperation(plan, storage, changes, ownsSteps = !plan.spec.isCrossGroup)
    val state = new GroupState(plan, storage, operation)
    val row = new UnsafeRow(plan.content.size)
    store.all.map { key =>
      val stored = store.open(key)
      state.key = key
      state.restoreRows(stored)
      operation.machine.emitContents()
      val numbers = Seq.newBuilder[Long]
      while (!changes.isEmpty) {
        changes.next()
        RowBytes.pointTo(row, operation.window, changes.ordinal)
        numbers += row.getLong(plan.content.size - 1)
      }
      key -> numbers.result()
    }
  }
}
