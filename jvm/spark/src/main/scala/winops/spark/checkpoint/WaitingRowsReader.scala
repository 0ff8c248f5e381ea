package winops.spark.checkpoint

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{BooleanType, DataType, LongType}

import winops.spark.group.{ArrivalState, WaitingLog}
import winops.spark.state.StateErrors

/** Reads the rows that wait for the watermark in one partition of a state. Behind the columns of
  * a waiting row are a negative number, by which equal rows have the order of their arrival, and
  * true for rows of a table before the stream.
  */
final class WaitingRowsReader(groups: StoredGroups) extends Iterator[InternalRow] {
  private val columns = groups.plan.waitingColumns
  private val row = new UnsafeRow(columns.size)
  private val added = new SpecificInternalRow(Seq[DataType](LongType, BooleanType))
  private val joined = new JoinedRow(row, added)
  private val toRow = UnsafeProjection.create(
    (columns.map(_.dataType) ++ Seq[DataType](LongType, BooleanType)).toArray)
  private var number = Long.MinValue

  private val rows: Iterator[InternalRow] = StateErrors.translated {
    groups.each.flatMap(group => of(group.arrivals)) ++ groups.sharedArrivals.iterator.flatMap(of)
  }

  override def hasNext: Boolean = StateErrors.translated(rows.hasNext)
  override def next(): InternalRow = StateErrors.translated(rows.next())

  private def of(arrivals: ArrivalState): Iterator[InternalRow] =
    of(arrivals.history, isOfHistory = true) ++ of(arrivals.waiting, isOfHistory = false)

  private def of(log: WaitingLog, isOfHistory: Boolean): Iterator[InternalRow] =
    log.ordinals.map { ordinal =>
      log.pointTo(row, ordinal)
      added.setLong(0, number)
      added.setBoolean(1, isOfHistory)
      number += 1
      toRow(joined)
    }
}
