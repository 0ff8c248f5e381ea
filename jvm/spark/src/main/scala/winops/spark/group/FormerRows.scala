package winops.spark.group

import org.apache.spark.sql.catalyst.expressions._

import winops.spark.plan.{FramedFunction, KeepPlan, OperatorPlan, Output, OverPlan}
import winops.spark.restart.FormerColumn
import winops.spark.row.{RowBytes, RowShape}
import winops.storage.bytes.Segments
import winops.storage.rows.{PatchedRowLog, RowLog, RowStore}

/** Moves rows that another query has stored into stores of the running one.
  *
  * @param plan
  *   the plan of the running query
  * @param columns
  *   the columns of the stored rows
  * @param newSegments
  *   creates segments that spill, for the rows of one group on their way
  */
private[group] final class FormerRows(
    plan: OperatorPlan,
    columns: Seq[FormerColumn],
    newSegments: () => Segments) {
  import FormerRows._

  private val content: Seq[Attribute] = columns.map { column =>
    if (column.isSame) plan.content(column.place)
    else AttributeReference(column.field.name, column.field.dataType)()
  }

  /** The plan with the columns of the stored rows and without results. */
  val before: OperatorPlan = plan match {
    case keep: KeepPlan =>
      keep.copy(
        spec = keep.spec.copy(output = Output.Changes),
        by = Nil,
        results = Nil,
        content = content,
        asking = keep.asking.flatMap(stored))
    case over: OverPlan => over.copy(results = Nil, content = content)
  }

  /** The stored column with the values of a column of the query. */
  private def stored(column: Attribute): Option[Attribute] = {
    val place = plan.content.indexWhere(_.exprId == column.exprId)
    columns.zip(content).collectFirst { case (former, own) if former.place == place => own }
  }

  private val values: Seq[Expression] = plan.content.zipWithIndex.map { case (column, i) =>
    columns.indexWhere(_.place == i) match {
      case -1 => plan.spec.restart.valueIn(column)
      case place => columns(place).valueIn(content(place), column.dataType)
    }
  }

  private val ofWaiting =
    UnsafeProjection.create(values ++ plan.sourcePartition, content ++ plan.sourcePartition)
  private lazy val orderBefore = RowOrdering.create(before.waitingOrder, before.waitingColumns)
  private lazy val order = RowOrdering.create(plan.waitingOrder, plan.waitingColumns)
  private val waiting = new UnsafeRow(plan.waitingColumns.size)

  // Memory that Spark grants for segments stays with them until the task ends.
  private lazy val waitingBuffer =
    new RowLog(newSegments(), withArrival = false, RowShape.of(plan.waitingColumns))

  /** Moves whole rows. */
  val whole: Mover = new Mover(content, plan.content)

  /** The columns of the stored rows with some names, in their order. */
  def named(names: Set[String]): Seq[Attribute] =
    content.filter(column => names(FramedFunction.nameOf(column, content)))

  /** Moves rows with some of their columns.
    *
    * @param from
    *   the stored columns
    * @param to
    *   the columns of the query, each of which is stored
    */
  final class Mover(from: Seq[Attribute], to: Seq[Attribute]) {
    private val projection = UnsafeProjection.create(
      to.map(column => values(plan.content.indexWhere(_.exprId == column.exprId))),
      from)
    private val row = new UnsafeRow(from.size)
    private val moved = new UnsafeRow(to.size)
    private lazy val buffer = new RowLog(newSegments(), withArrival = true, RowShape.of(to))

    /** Moves all rows, which keep their ordinals and arrival times. */
    def move(rows: RowStore, target: RowStore): Unit = {
      // Rows of a long log are in entries that the new log writes too.
      if (rows.isInstanceOf[RowLog] && rows.size >= MostDirect) moveThroughBuffer(rows, target)
      else if (rows.isInstanceOf[PatchedRowLog]) moveWithHoles(rows, target)
      else {
        val end = rows.end
        eachOf(rows) { (ordinal, arrival, row) =>
          target.skipTo(ordinal)
          RowBytes.append(target, arrival, row)
        }
        rows.discard()
        target.skipTo(end)
      }
    }

    private def moveThroughBuffer(rows: RowStore, target: RowStore): Unit = {
      val first = rows.first
      eachOf(rows)((_, arrival, row) => RowBytes.append(buffer, arrival, row))
      rows.discard()
      target.skipTo(first)
      while (buffer.size > 0) {
        val ordinal = buffer.first
        val arrival = buffer.arrival(ordinal)
        RowBytes.pointTo(moved, buffer, ordinal)
        RowBytes.append(target, arrival, moved)
        buffer.release(ordinal + 1)
      }
      buffer.discard()
    }

    private def moveWithHoles(rows: RowStore, target: RowStore): Unit = {
      val end = rows.end
      val ordinals = Array.newBuilder[Long]
      eachOf(rows) { (ordinal, arrival, row) =>
        ordinals += ordinal
        RowBytes.append(buffer, arrival, row)
      }
      rows.discard()
      ordinals.result().foreach { ordinal =>
        target.skipTo(ordinal)
        val arrival = buffer.arrival(buffer.first)
        RowBytes.pointTo(moved, buffer, buffer.first)
        RowBytes.append(target, arrival, moved)
        buffer.release(buffer.first + 1)
      }
      target.skipTo(end)
      buffer.discard()
    }

    /** Visits all rows in the order of their arrival, with their ordinals and arrival times. */
    def eachOf(rows: RowStore)(visit: (Long, Long, UnsafeRow) => Unit): Unit = {
      var ordinal = rows.first
      while (ordinal < rows.end) {
        val arrival = rows.arrival(ordinal)
        RowBytes.pointTo(row, rows, ordinal)
        visit(ordinal, arrival, projection(row))
        ordinal = rows.next(ordinal)
      }
    }
  }

  /** Moves the rows that wait for the watermark, in the order of their release. */
  def moveWaiting(from: ArrivalState, to: ArrivalState): Unit = {
    moveWaiting(from.waiting, to.waiting)
    moveWaiting(from.history, to.history)
  }

  private def moveWaiting(from: WaitingLog, to: WaitingLog): Unit = if (from.size > 0) {
    val buffer = waitingBuffer
    val released = from.release(WaitingRows.Never, orderBefore)
    while (released.first != null) {
      RowBytes.append(buffer, 0L, ofWaiting(released.first))
      released.take()
    }
    released.finish()
    while (buffer.size > 0) {
      RowBytes.pointTo(waiting, buffer, buffer.first)
      to.append(waiting, order)
      buffer.release(buffer.first + 1)
      // Rows that have another order now are sorted on the heap.
      if (buffer.first % MostSorted == 0) to.settle(order)
    }
    to.settle(order)
    buffer.discard()
  }
}

private object FormerRows {

  /** The number of rows up to which a new log keeps its rows in memory until it is stored. */
  val MostDirect = 512L

  /** The number of waiting rows that are sorted at a time. */
  val MostSorted = 4096L
}
