package winops.spark.group

import org.apache.spark.sql.catalyst.expressions._

import winops.spark.input.GroupedRows
import winops.spark.internal.{KeepMetrics, WinopsErrors}
import winops.spark.plan.OperatorPlan

/** Drops and counts late rows and rows without a time. A row without a time is an error unless
  * the query drops or emits such rows.
  *
  * If the query emits rows without effect, they are not dropped; of the input of a lookup, only
  * rows that look up are emitted. Rows of a table before the stream are never late. Neither are
  * rows that have waited in a state that such a table replaces: their time may be that of another
  * column now.
  */
final class Admission(
    plan: OperatorPlan,
    input: Seq[Attribute],
    times: BatchTimes,
    metrics: KeepMetrics) {
  private val timeOrdinal = plan.timeOrdinal
  private val lateBefore = times.lateBefore
  private val historyOrdinal =
    plan.ofHistory.fold(-1)(flag => input.indexWhere(_.exprId == flag.exprId))
  private val asking = new AskingFlag(plan, input)
  private val columnsOf = UnsafeProjection.create(plan.waitingColumns, input)

  /** True if the last admitted row is one of the table that the stream starts with. */
  def isOfHistory: Boolean = ofHistory
  private var ofHistory = false

  /** The reason for which the last row of [[next]] has no effect, one of [[Refusal]]. Such rows
    * are returned only if they are emitted.
    */
  def refusal: Int = refused
  private var refused = Refusal.None

  private val emitsRefused = plan.spec.emitsRefused
  private val emitsNullTime = plan.spec.emitsNullTime

  /** The greatest time in milliseconds of a row of the table in the group; `Long.MinValue` before
    * the first.
    */
  def historyUntil: Long = until
  private var until = Long.MinValue

  /** Begins with the rows of a group. */
  def open(): Unit = until = Long.MinValue

  /** The next admitted row of the group, with the columns of waiting rows; null after the last.
    */
  def next(rows: GroupedRows): UnsafeRow = {
    var taken: UnsafeRow = null
    refused = Refusal.None
    while (taken == null && rows.hasNext) {
      val row = rows.next()
      if (timeOrdinal < 0) taken = row
      else if (row.isNullAt(timeOrdinal)) {
        if (emitsNullTime && asking.isSet(row)) {
          metrics.nullTime += 1
          refused = Refusal.TimeMissing
        } else {
          dropNullTime(row)
          if (isEmitted(row)) refused = Refusal.TimeMissing
        }
      } else if (row.getLong(timeOrdinal) < lateBefore && !isMarked(row) && !hasWaited(row)) {
        metrics.late += 1
        if (isEmitted(row)) refused = Refusal.Late
      } else taken = row
      if (refused != Refusal.None) taken = row
    }
    if (taken == null) null
    else {
      ofHistory = isMarked(taken)
      if (ofHistory && refused == Refusal.None)
        until = Math.max(until, times.timeOf(taken, timeOrdinal))
      columnsOf(taken)
    }
  }

  private def isEmitted(row: UnsafeRow): Boolean =
    emitsRefused && (!asking.isKnown || asking.isSet(row))

  private def isMarked(row: UnsafeRow): Boolean =
    historyOrdinal >= 0 && !row.isNullAt(historyOrdinal) && row.getBoolean(historyOrdinal)

  private def hasWaited(row: UnsafeRow): Boolean =
    historyOrdinal >= 0 && row.isNullAt(historyOrdinal)

  private def dropNullTime(row: UnsafeRow): Unit =
    if (plan.spec.dropsNullTime(asking.isSet(row))) metrics.nullTime += 1
    else {
      throw WinopsErrors.runtime(
        "WINOPS_NULL_TIME",
        "column" -> plan.timeName(asking.isSet(row)),
        "operator" -> plan.spec.words.operator,
        "argument" -> plan.spec.words.nullTime)
    }
}
