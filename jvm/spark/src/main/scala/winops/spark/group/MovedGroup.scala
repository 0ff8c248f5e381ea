package winops.spark.group

import winops.storage.bytes.ByteReader

/** Moves the open group of another query into the form of the running one: the clock, the timers,
  * and the rows that wait. The caller moves the state of the operation.
  *
  * @param rows
  *   moves rows
  * @param former
  *   the group in the form in which it is stored
  * @param formerStorage
  *   where `former` stores rows and pages
  * @param state
  *   the group in the form of the running query
  */
private[group] final class MovedGroup[+O <: Operation](
    rows: FormerRows,
    val former: GroupState[O],
    formerStorage: GroupStorage,
    state: GroupState[Operation],
    storage: GroupStorage) {

  /** Restores the group but for the state of the operation and its results, which follow in `in`.
    *
    * @param moveRows
    *   moves the rows of the operation
    */
  def restore(in: ByteReader)(moveRows: => Unit): Unit = {
    former.key = state.key
    former.restoreRows(in)
    state.clear()
    storage.pages.startAs(formerStorage.pages)
    state.operation.clock.startAs(former.operation.clock)
    storage.reach(state.operation.clock.now)
    state.registeredTimer = former.registeredTimer
    state.reachTimer = former.reachTimer
    moveRows
    // Frees the pages of the former rows. The indexes beside them stay.
    formerStorage.pages.settle()
    state.arrivals.lastOrder = former.arrivals.lastOrder
    rows.moveWaiting(former.arrivals, state.arrivals)
  }
}
