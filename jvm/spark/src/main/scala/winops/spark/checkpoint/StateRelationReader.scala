package winops.spark.checkpoint

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.group.{ArrivalState, GroupState, Operation, WaitingLog}
import winops.spark.row.{Micros, RowBytes}
import winops.spark.state.StateErrors
import winops.window.time.Clock

/** Reads the rows that one partition of a state holds, group by group: first the window contents
  * in the order of the windows, then the waiting rows.
  *
  * @param filter
  *   the groups to read. Rows that wait for all groups together are read with any filter.
  */
final class StateRelationReader(
    stored: StoredKeep,
    partition: Int,
    groups: StoredGroups,
    filter: GroupFilter)
    extends Iterator[InternalRow] {
  import StateRelationReader._

  private val names = stored.windowNames.map(UTF8String.fromString).toArray
  private val shown = groups.shown
  private val toldOf = new GenericInternalRow(Width)
  private val content = new UnsafeRow(stored.content.size)
  private val joined = new JoinedRow(toldOf, content)
  private val waitingRow = new UnsafeRow(groups.plan.waitingColumns.size)
  private val joinedWaiting = new JoinedRow(toldOf, waitingRow)
  private val toRow =
    UnsafeProjection.create(schema(stored).map(_.dataType).toArray[DataType])

  private val rows: Iterator[InternalRow] = StateErrors.translated {
    groups.each(filter).flatMap(ofGroup) ++
      groups.sharedArrivals.iterator.flatMap(waiting(_, null))
  }

  override def hasNext: Boolean = StateErrors.translated(rows.hasNext)
  override def next(): InternalRow = StateErrors.translated(rows.next())

  private def ofGroup(group: GroupState[Operation]): Iterator[InternalRow] =
    shown.each.map(row(group.key, _)) ++ waiting(group.arrivals, group.key)

  private def row(key: InternalRow, place: ShownRows.WindowRow): InternalRow = {
    toldOf.update(PartitionColumn, partition)
    toldOf.update(GroupColumn, key)
    toldOf.update(WindowColumn, if (names.isEmpty) null else names(place.window))
    toldOf.update(NumberColumn, place.row)
    toldOf.update(ArrivedColumn, place.arrived.fold[Any](null)(Micros.of))
    toldOf.update(
      LeavesColumn,
      if (place.leaves == Clock.Never) null else Micros.of(place.leaves))
    toldOf.update(WaitsColumn, shown.areWaiting)
    RowBytes.pointTo(content, shown.store, place.row)
    toRow(joined)
  }

  private def waiting(arrivals: ArrivalState, key: InternalRow): Iterator[InternalRow] =
    waiting(arrivals.history, key) ++ waiting(arrivals.waiting, key)

  private def waiting(log: WaitingLog, key: InternalRow): Iterator[InternalRow] =
    log.ordinals.map { ordinal =>
      toldOf.update(PartitionColumn, partition)
      toldOf.update(GroupColumn, key)
      Seq(WindowColumn, NumberColumn, ArrivedColumn, LeavesColumn).foreach(toldOf.setNullAt)
      toldOf.update(WaitsColumn, true)
      log.pointTo(waitingRow, ordinal)
      toRow(joinedWaiting)
    }
}

object StateRelationReader {
  private val PartitionColumn = 0

  /** The place of the column of the group key in the [[schema]]. */
  val GroupColumn = 1

  private val WindowColumn = 2
  private val NumberColumn = 3
  private val ArrivedColumn = 4
  private val LeavesColumn = 5
  private val WaitsColumn = 6
  private val Width = 7

  /** The columns that describe a stored row, then the row's own columns. A describing column gets
    * more leading underscores if the row has a column of its name.
    */
  def schema(stored: StoredKeep): StructType = {
    val key = StructType(stored.group.zip(stored.keys).map { case (name, column) =>
      StructField(name, column.dataType)
    })
    val own = stored.content.map(column => StructField(column.name, column.dataType))
    def unused(name: String): String =
      Iterator
        .iterate(name)(n => s"_$n")
        .filterNot(n => own.exists(_.name.equalsIgnoreCase(n)))
        .next()
    val describing = new StructType()
      .add("_partition", IntegerType, nullable = false)
      .add("_group", key)
      .add("_window", StringType)
      .add("_row", LongType)
      .add("_arrived", TimestampType)
      .add("_leaves", TimestampType)
      .add("_waits", BooleanType, nullable = false)
    StructType(describing.map(field => field.copy(name = unused(field.name))) ++ own)
  }
}
